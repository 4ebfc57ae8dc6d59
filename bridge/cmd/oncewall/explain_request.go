package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// probe is a request as curl's flags describe it.
type probe struct {
	method string
	path   string // Envoy's :path: with the query, as written
	lines  [][2]string
	body   []byte
	claims map[string]string
	// What Envoy would know beside that, by the attribute's path.
	attributes map[string]string

	target  string // authority of an absolute URL
	hasBody bool
}

func (p *probe) flags(f *flag.FlagSet) {
	f.StringVar(&p.method, "X", "", "`method`; default GET, with -d POST")
	f.Func("H", "header `line`, \"name: value\"; repeatable", p.addHeader)
	f.Func("d", "`body`; @FILE reads it and drops line breaks, as curl does", func(s string) error { return p.addBody(s, true) })
	f.Func("data-binary", "`body`; @FILE reads it as it is", func(s string) error { return p.addBody(s, false) })
	f.Func("claim", "`NAME=VALUE`: a claim of the token that jwt_authn has verified; repeatable", p.addClaim)
	f.Func("certificate", "`MEMBER=VALUE`: uri_san, dns_san, subject or sha256 of the client's verified certificate; repeatable", p.addCertificate)
	f.Func("route", "`NAME=VALUE`: rule or mode in the metadata of Envoy's route; repeatable", p.addRoute)
}

// addHeader takes a line as curl does: "name:" is not sent, "name;" is sent
// empty.
func (p *probe) addHeader(s string) error {
	name, value, ok := strings.Cut(s, ":")
	value = strings.Trim(value, " \t")
	if !ok {
		if name, ok = strings.CutSuffix(s, ";"); !ok {
			return errors.New(`must be "name: value"`)
		}
	} else if value == "" {
		return nil
	}
	if strings.ContainsAny(s, "\r\n") || strings.TrimSpace(name) != name || name == "" {
		return errors.New("not a header line")
	}
	p.lines = append(p.lines, [2]string{strings.ToLower(name), value})
	return nil
}

// addBody joins several bodies with "&", as curl does.
func (p *probe) addBody(s string, strip bool) error {
	if file, ok := strings.CutPrefix(s, "@"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s = string(b)
		if strip {
			s = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(s)
		}
	}
	if p.hasBody {
		p.body = append(p.body, '&')
	}
	p.hasBody = true
	p.body = append(p.body, s...)
	return nil
}

func (p *probe) addClaim(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("must be NAME=VALUE")
	}
	if p.claims == nil {
		p.claims = map[string]string{}
	}
	p.claims[name] = value
	return nil
}

// certificates has for each member of a certificate Envoy's attribute.
var certificates = map[string]string{
	"uri_san": "uri_san_peer_certificate", "dns_san": "dns_san_peer_certificate",
	"subject": "subject_peer_certificate", "sha256": "sha256_peer_certificate_digest",
}

func (p *probe) addCertificate(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || certificates[name] == "" {
		return errors.New("must be uri_san, dns_san, subject or sha256, and =VALUE")
	}
	p.know(value, "connection", certificates[name])
	p.know("\x01", "connection", "mtls")
	return nil
}

func (p *probe) addRoute(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name != "rule" && name != "mode" {
		return errors.New("must be rule=NAME or mode=off")
	}
	p.know(value, "xds", "route_metadata", "filter_metadata", "oncewall", name)
	return nil
}

func (p *probe) know(value string, path ...string) {
	if p.attributes == nil {
		p.attributes = map[string]string{}
	}
	p.attributes[strings.Join(path, ".")] = value
}

// finish adds what the URL and curl's defaults say.
func (p *probe) finish(url string) error {
	p.target, p.path = "localhost", url
	if _, rest, ok := strings.Cut(url, "://"); ok && !strings.HasPrefix(url, "/") {
		i := strings.IndexAny(rest, "/?#")
		if i < 0 {
			i = len(rest)
		}
		p.target, p.path = rest[:i], rest[i:]
	} else if !strings.HasPrefix(url, "/") {
		return fmt.Errorf("URL %q: must begin with a scheme or with /", url)
	}
	p.path, _, _ = strings.Cut(p.path, "#")
	if !strings.HasPrefix(p.path, "/") {
		p.path = "/" + p.path
	}
	if p.method == "" {
		p.method = "GET"
		if p.hasBody {
			p.method = "POST"
		}
	}
	if !isMethod(p.method) {
		return fmt.Errorf("method %q: must be letters, digits and !#$%%&'*+-.^_`|~ (RFC 9110)", p.method)
	}
	if p.hasBody {
		p.setDefault("content-type", "application/x-www-form-urlencoded")
		p.setDefault("content-length", strconv.Itoa(len(p.body)))
	}
	return nil
}

// isMethod reports whether s is a token: no other could reach the filter.
func isMethod(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

func (p *probe) setDefault(name, value string) {
	for _, l := range p.lines {
		if l[0] == name {
			return
		}
	}
	p.lines = append(p.lines, [2]string{name, value})
}

// view is the request as the filter sees it.
func (p *probe) view() probeView { return probeView{p} }

type probeView struct{ p *probe }

func (v probeView) Header(name string) (lines []string) {
	switch name {
	case ":method":
		return []string{v.p.method}
	case ":path":
		return []string{v.p.path}
	case ":authority", "host":
		return []string{v.p.target}
	}
	for _, l := range v.p.lines {
		if l[0] == name {
			lines = append(lines, l[1])
		}
	}
	return lines
}

// claimDepth is where a claim's own name begins in the path of a property:
// metadata, filter_metadata, the filter's name, the payload's.
const claimDepth = 4

func (v probeView) Property(path ...string) (string, bool) {
	if value, ok := v.p.attributes[strings.Join(path, ".")]; ok {
		return value, true
	}
	if len(path) <= claimDepth || path[0] != "metadata" {
		return "", false
	}
	value, ok := v.p.claims[strings.Join(path[claimDepth:], ".")]
	return value, ok
}
