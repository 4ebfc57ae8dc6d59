package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// check compares a value with its field: kind, form, bounds, unknown, repeated
// and missing members. It reports every fault and leaves in the tree what
// building needs.
func (c *collector) check(path string, f *field, n *node) {
	if f.refuse != "" {
		if f.inert == "" || n.show() != f.inert {
			c.fault(path, n, "%s", f.refuse)
		}
		return
	}
	if f.alt != nil && !f.takes(n.kind) && f.alt.takes(n.kind) {
		f = f.alt
	}
	if f.kind == kindChoice && n.kind == nodeBool && !n.flag && slices.Contains(f.served(), "off") {
		// Envoy reads YAML's bare off as false before this code sees it.
		n.kind, n.text = nodeString, "off"
	}
	if !f.takes(n.kind) {
		c.fault(path, n, "must be %s, is %s", kindNames[f.kind], nodeKindNames[n.kind])
		return
	}
	switch f.kind {
	case kindObject:
		c.checkObject(path, f, n)
	case kindList:
		c.checkList(path, f, n)
	case kindString:
		c.checkString(path, f, n)
	case kindChoice:
		c.checkChoice(path, f, n)
	case kindInteger, kindDuration, kindSize:
		c.checkNumber(path, f, n)
	}
}

func (c *collector) fault(path string, n *node, format string, args ...any) {
	n.bad = true
	c.add(path, n, format, args...)
}

func (c *collector) checkObject(path string, f *field, n *node) {
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		at := join(path, plain(m.name))
		known := f.member(m.name)
		switch {
		case seen[m.name]:
			c.add(at, nil, "is there twice")
			continue
		case known == nil:
			c.add(at, nil, "is not a field; the fields here are %s", memberNames(f))
		default:
			c.check(at, known, m.node)
		}
		seen[m.name] = true
	}
	for _, m := range f.members {
		if m.required && !seen[m.name] {
			c.add(join(path, m.name), nil, "is required")
		}
	}
}

func memberNames(f *field) string {
	var names []string
	for _, m := range f.members {
		if m.refuse == "" {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}

func (c *collector) checkList(path string, f *field, n *node) {
	if count := int64(len(n.items)); count < f.min || count > f.max {
		c.fault(path, n, "has %d entries, must have %s", count, f.bound())
		if count > f.max {
			return
		}
	}
	seen := make(map[string]int, len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if f.elem == rule {
			c.rule = label(i, item)
			c.check("", rule, item)
			c.rule = ""
			continue
		}
		c.check(at, f.elem, item)
		if item.kind != nodeString {
			continue
		}
		if first, dup := seen[item.text]; dup {
			c.fault(at, item, "is there twice, first at [%d]", first)
			continue
		}
		seen[item.text] = i
	}
}

func (c *collector) checkString(path string, f *field, n *node) {
	if l := int64(len(n.text)); l < f.min || l > f.max {
		c.fault(path, n, "has %d bytes, must have %s", l, f.bound())
		return
	}
	if f.form != nil && !f.form.ok(n.text) {
		c.fault(path, n, "must be %s", f.form.is)
	}
}

func (c *collector) checkChoice(path string, f *field, n *node) {
	for _, ch := range f.choices {
		if ch.name != n.text {
			continue
		}
		if ch.refuse != "" {
			c.fault(path, n, "%s; one of %s is", ch.refuse, f.bound())
			return
		}
		n.value = ch.value
		return
	}
	c.fault(path, n, "must be one of %s", f.bound())
}

func (c *collector) checkNumber(path string, f *field, n *node) {
	var ok bool
	switch {
	case f.kind == kindDuration:
		var d time.Duration
		d, ok = parseDuration(n.text)
		n.value = int64(d)
	case n.kind == nodeNumber:
		n.value, ok = parseWhole(n.text)
	default:
		n.value, ok = parseSize(n.text)
	}
	if !ok {
		c.fault(path, n, "must be %s, %s", kindNames[f.kind], f.bound())
		return
	}
	if n.value < f.min || n.value > f.max {
		c.fault(path, n, "must be %s", f.bound())
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// plain is a member's name as a fault shows it: it is the file's text, so it is
// quoted unless it looks like a field.
func plain(name string) string {
	if formName.ok(name) && name != "" {
		return clip(name)
	}
	return quote(name)
}
