package rules

import (
	"strings"

	"github.com/oncewall/oncewall/filter/key"
)

const (
	lower    = "abcdefghijklmnopqrstuvwxyz"
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
	tokenSet = "!#$%&'*+-.^_`|~" + digits // RFC 9110 token, less the letters
)

func madeOf(set string) func(string) bool {
	return func(s string) bool { return strings.Trim(s, set) == "" && !strings.ContainsFunc(s, outside(set)) }
}

func outside(set string) func(rune) bool {
	return func(r rune) bool { return !strings.ContainsRune(set, r) }
}

// visible reports whether s is ASCII without spaces and control bytes.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// printable reports whether s has no control character.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

var (
	formName = &form{
		ok: madeOf(lower + upper + digits + "._-"), is: "of letters, digits, '.', '_' and '-'",
		pattern: `^[A-Za-z0-9._-]+$`,
	}
	formCluster = &form{
		ok: visible, is: "of visible ASCII characters", pattern: `^[!-~]+$`,
	}
	formMethod = &form{
		ok: madeOf(upper + tokenSet), is: "a method in upper case", pattern: "^[A-Z0-9!#$%&'*+.^_`|~-]+$",
	}
	formHeader = &form{
		ok: madeOf(lower + tokenSet), is: "a header name in lower case", pattern: "^[a-z0-9!#$%&'*+.^_`|~-]+$",
	}
	formHost = &form{
		ok: isHostPattern, is: `a host in lower case without port, or "*." before one`,
		pattern: `^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`,
	}
	formDomain = &form{
		ok: func(s string) bool { return isHostPattern(s) && s[0] != '*' }, is: "a name in lower case, of labels with dots between them",
		pattern: `^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`,
	}
	formCookie = &form{
		ok: func(s string) bool { return s != "" && madeOf(lower+upper+tokenSet)(s) }, is: "a cookie's name", pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
	}
	formAlphabet = &form{
		ok: func(s string) bool { _, ok := key.ParseAlphabet(s); return ok },
		is: `a set of visible ASCII characters and the space, such as "A-Za-z0-9_-"`, pattern: "^[ -~]+$",
	}
	formText = &form{
		ok: printable, is: "without control characters", pattern: `^[^\u0000-\u001f\u007f]+$`,
	}
	formPointer = &form{
		ok: isPointer, is: `a JSON pointer below the root, such as "/transfer_id"`,
		pattern: `^(/([^~/\u0000-\u001f\u007f]|~[01])*)+$`,
	}
	formPath = &form{
		ok:      isRulePath,
		is:      `an absolute path in normal form: decoded, without "%", "?", "#", ";", "\", "//", "." and ".." segments`,
		pattern: `^/([^/%?#;\\\u0000-\u001f\u007f]+/)*[^/%?#;\\\u0000-\u001f\u007f]*$`,
	}
)

// isHostPattern reports whether s is a host as rules name them.
func isHostPattern(s string) bool {
	for _, label := range strings.Split(strings.TrimPrefix(s, "*."), ".") {
		if label == "" || !madeOf(lower+digits+"_-")(label) || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}

// isPointer reports whether s is an RFC 6901 pointer to something below the root.
func isPointer(s string) bool {
	if s == "" || s[0] != '/' || !printable(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

// isRulePath reports whether a path of the configuration is in the form in which
// requests are compared, one trailing slash allowed.
func isRulePath(s string) bool {
	return s != "" && s[0] == '/' && printable(s) && isNormal(s) && !strings.Contains(s, "?")
}
