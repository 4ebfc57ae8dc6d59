package rules

import (
	"slices"
	"strings"
)

// maxHost bounds the part of a host that is looked up, from its end. No rule names
// a longer one.
const maxHost = 255

// of appends the indexes that apply to an authority to dst, the host's own first,
// then those of its suffixes, the longest first, and that for every host last. odd
// is set where readers of the authority may see another host in it.
func (t *table) of(dst indexes, authority string) (at indexes, odd bool) {
	if t.hosts == nil {
		return append(dst, t.any), false
	}
	var room [4]string
	hosts := hostnames(room[:0], authority)
	for _, host := range hosts {
		dst = t.ofHost(dst, host)
	}
	return append(dst, t.any), len(hosts) > 1
}

func (t *table) ofHost(dst indexes, host string) indexes {
	add := func(x *index) {
		if x != nil && !slices.Contains(dst, x) {
			dst = append(dst, x)
		}
	}
	add(t.hosts[host])
	for rest := host; ; {
		i := strings.IndexByte(rest, '.')
		if i < 0 {
			return dst
		}
		// As Envoy's routes have it: something stands before the suffix, a dot too.
		if len(rest)-i < len(host) {
			add(t.hosts["*"+rest[i:]])
		}
		rest = rest[i+1:]
	}
}

// hostnames appends the hosts of an authority to dst, the common reading first:
// without the port. Envoy's routes take more for a host than a name and its port,
// "shop.example:x" by "shop.example:*" and "a:1.shop.example" by "*.shop.example".
// Of such a one all of it counts, and what stands before its first colon or behind
// its last "@", where a backend may see its own name.
func hostnames(dst []string, authority string) []string {
	host := authority
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.Trim(host[i+1:], digits) == "" {
		host = host[:i]
	}
	dst = append(dst, hostname(host))
	if !strings.ContainsAny(host, ":@") || host[0] == '[' && strings.IndexByte(host, ']') == len(host)-1 {
		return dst
	}
	behind := host[strings.LastIndexByte(host, '@')+1:]
	for _, s := range []string{host, behind} {
		s, _, _ = strings.Cut(s, ":")
		dst = append(dst, hostname(s))
	}
	return append(dst, hostname(behind))
}

// hostname returns a host as rules write it: in lower case, and without the dots at
// the end of which one makes a name absolute. Of a long one it returns the end,
// which is what rules for suffixes ask for.
func hostname(host string) string {
	host = strings.TrimRight(host, ".")
	return strings.ToLower(host[max(0, len(host)-maxHost):])
}
