package reconcile

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// About is what a template may name.
type About struct {
	Namespace string
	Scope     string
	Key       string
	Principal string // its value alone
	Fence     string // decimal
}

// A Template is text with placeholders: {key}, {principal}, {fence}, {scope} and
// {namespace}. What stands for them is percent-encoded: every byte but letters,
// digits, "-", ".", "_" and "~".
type Template struct{ parts []part }

// part is literal text, or what get returns.
type part struct {
	text string
	name string
}

var placeholders = map[string]func(*About) string{
	"key":       func(a *About) string { return a.Key },
	"principal": func(a *About) string { return a.Principal },
	"fence":     func(a *About) string { return a.Fence },
	"scope":     func(a *About) string { return a.Scope },
	"namespace": func(a *About) string { return a.Namespace },
}

// ParseTemplate reads a template.
func ParseTemplate(s string) (*Template, error) {
	t := &Template{}
	for s != "" {
		text, rest, found := strings.Cut(s, "{")
		if strings.Contains(text, "}") {
			return nil, errors.New("a } without its {")
		}
		if text != "" {
			t.parts = append(t.parts, part{text: text})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || placeholders[name] == nil {
			return nil, errors.New("placeholders are {key}, {principal}, {fence}, {scope} and {namespace}")
		}
		t.parts, s = append(t.parts, part{name: name}), after
	}
	return t, nil
}

// Literal is a template of that text alone, whatever it holds.
func Literal(text string) *Template { return &Template{parts: []part{{text: text}}} }

// ParseURL reads a template of an http or https URL, with placeholders in its path
// and query alone: no client decides which host is asked.
func ParseURL(s string) (*Template, error) {
	t, err := ParseTemplate(s)
	if err != nil {
		return nil, err
	}
	if at := strings.IndexByte(s, '{'); at >= 0 {
		head := s[:at]
		if _, rest, ok := strings.Cut(head, "://"); !ok || !strings.ContainsAny(rest, "/?") {
			return nil, errors.New("placeholders stand in the path and the query")
		}
	}
	u, err := t.URL(&About{Namespace: "n", Scope: "s", Key: "k", Principal: "p", Fence: "1"})
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("must be http or https with a host, and without user or fragment")
	}
	return t, nil
}

// Names reports whether the template names that placeholder.
func (t *Template) Names(placeholder string) bool {
	for _, p := range t.parts {
		if p.name == placeholder {
			return true
		}
	}
	return false
}

// Expand fills the template in.
func (t *Template) Expand(a *About) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		encode(&b, placeholders[p.name](a))
	}
	return b.String()
}

var errDots = errors.New("a path segment would be one or two dots")

// URL fills the template of a URL in. A value that would become a path segment of
// dots is refused: servers and proxies resolve it, and another path would be asked.
func (t *Template) URL(a *About) (*url.URL, error) {
	u, err := url.Parse(t.Expand(a))
	if err != nil {
		return nil, errors.New("not a URL")
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return nil, errDots
		}
	}
	return u, nil
}

func encode(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}
