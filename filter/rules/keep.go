package rules

import (
	"fmt"
	"strings"
)

// OptIn reports whether a response header is recorded only where a rule's
// record.keep_headers names it: it is a credential, or says what a browser of one
// origin may do.
func OptIn(name string) bool {
	switch name {
	case "set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate",
		"authentication-info", "proxy-authentication-info":
		return true
	}
	return strings.HasPrefix(name, "access-control-")
}

// keepHeaders reads record.keep_headers.
func (p *parser) keepHeaders(n *node) []string {
	if n == nil {
		return nil
	}
	for i, item := range n.items {
		if item.good() && !OptIn(item.text) {
			p.add(fmt.Sprintf("record.keep_headers[%d]", i), item,
				"must be set-cookie, set-cookie2, www-authenticate, proxy-authenticate, authentication-info, proxy-authentication-info or access-control-*: any other header is recorded anyway, or belongs to one exchange")
		}
	}
	return n.strings()
}
