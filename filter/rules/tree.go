package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bounds of the text of a configuration.
const (
	// MaxConfigBytes bounds a configuration.
	MaxConfigBytes = 1 << 20
	// maxDepth bounds the nesting of objects and lists; the deepest field lies
	// at 7.
	maxDepth = 16
)

type nodeKind uint8

const (
	nodeNull nodeKind = iota
	nodeBool
	nodeNumber
	nodeString
	nodeList
	nodeObject
)

var nodeKindNames = [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}

// node is one value of the file. check fills value and bad.
type node struct {
	kind    nodeKind
	flag    bool
	text    string // of a string; of a number as written
	items   []*node
	members []member

	value int64 // of a duration (ns), a size (bytes), an integer or a choice
	bad   bool  // a fault was reported: what depends on the value is not judged
}

// member keeps a name in the order of the file, repeated ones included.
type member struct {
	name string
	node *node
}

// readTree reads the text into a tree that keeps order and repeated members,
// which encoding/json would drop. A text that is no JSON at all has one fault.
func readTree(b []byte, c *collector) *node {
	if len(b) > MaxConfigBytes {
		c.add("", nil, "the configuration has %d bytes; the limit is %d", len(b), MaxConfigBytes)
		return nil
	}
	if len(b) > 0 && b[0] == structTag {
		if n, err := readStruct(b, maxDepth); err == nil {
			return n
		}
	}
	if !utf8.Valid(b) {
		c.add("", nil, "the configuration is not valid UTF-8")
		return nil
	}
	// The whole text is checked first: a decoder's tokens alone would accept what
	// follows the value.
	var raw json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		c.add("", nil, "%s", syntaxReason(b, err))
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	n, err := readNode(d, maxDepth)
	if err != nil {
		c.add("", nil, "%s", syntaxReason(b, err))
		return nil
	}
	return n
}

var errDepth = fmt.Errorf("objects and lists are nested more than %d deep", maxDepth)

func syntaxReason(b []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	before := b[:min(max(syntax.Offset-1, 0), int64(len(b)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("not JSON at line %d, column %d: %v", line, column, syntax)
}

func readNode(d *json.Decoder, depth int) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case bool:
		return &node{kind: nodeBool, flag: t}, nil
	case json.Number:
		return &node{kind: nodeNumber, text: t.String()}, nil
	case string:
		return &node{kind: nodeString, text: t}, nil
	case json.Delim:
		if depth == 0 {
			return nil, errDepth
		}
		if t == '[' {
			return readList(d, depth-1)
		}
		return readObject(d, depth-1)
	}
	return &node{kind: nodeNull}, nil
}

func readList(d *json.Decoder, depth int) (*node, error) {
	n := &node{kind: nodeList}
	for d.More() {
		item, err := readNode(d, depth)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err := d.Token()
	return n, err
}

func readObject(d *json.Decoder, depth int) (*node, error) {
	n := &node{kind: nodeObject}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := readNode(d, depth)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member{name.(string), value})
	}
	_, err := d.Token()
	return n, err
}

// The accessors below read a checked tree. On an absent or faulty node they
// answer with the default, so that building goes on and finds further faults.

// get returns the member of that name, nil where there is none.
func (n *node) get(name string) *node {
	if n == nil || n.kind != nodeObject {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.node
		}
	}
	return nil
}

func (n *node) good() bool { return n != nil && !n.bad }

func (n *node) stringOr(fallback string) string {
	if !n.good() {
		return fallback
	}
	return n.text
}

func (n *node) valueOr(fallback int64) int64 {
	if !n.good() {
		return fallback
	}
	return n.value
}

func (n *node) boolOr(fallback bool) bool {
	if !n.good() {
		return fallback
	}
	return n.flag
}

// strings returns the faultless strings of a list, or a lone string.
func (n *node) strings() []string {
	if n == nil {
		return nil
	}
	if n.kind == nodeString && n.good() {
		return []string{n.text}
	}
	var out []string
	for _, item := range n.items {
		if item.good() {
			out = append(out, item.text)
		}
	}
	return out
}

// show is what a fault prints of a value: scalars only, cut.
func (n *node) show() string {
	if n == nil {
		return ""
	}
	switch n.kind {
	case nodeString:
		return quote(n.text)
	case nodeNumber:
		return clip(n.text)
	case nodeBool:
		if n.flag {
			return "true"
		}
		return "false"
	}
	return ""
}
