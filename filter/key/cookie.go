package key

import "strings"

// FromCookies returns the value of the cookie called name in the lines of the
// Cookie header (RFC 6265 section 4.2; HTTP/2 may send a line for each cookie).
// found is false where there is none.
//
// A name that comes twice is ErrMultiple, and so is one that comes a second time
// in another case: which of them a backend reads depends on its parser. The
// value is one or more cookie-octets, in double quotes or bare, which are the
// same value; anything else is ErrSyntax, nothing at all ErrEmpty. It is not
// percent-decoded, since cookies have no such encoding.
func FromCookies(lines []string, name string) (value string, found bool, err error) {
	for _, line := range lines {
		for line != "" {
			var pair string
			pair, line, _ = strings.Cut(line, ";")
			got, v, _ := strings.Cut(strings.Trim(pair, " \t"), "=")
			switch bare := strings.Trim(got, " \t"); {
			case !strings.EqualFold(bare, name):
				continue
			case found || bare != name:
				return "", false, ErrMultiple
			case bare != got: // parsers differ about spaces around "="
				return "", false, ErrSyntax
			}
			value, found = v, true
		}
	}
	if !found {
		return "", false, nil
	}
	if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	if value == "" {
		return "", false, ErrEmpty
	}
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c >= 0x7f || c == '"' || c == ',' || c == ';' || c == '\\' {
			return "", false, ErrSyntax
		}
	}
	return value, true, nil
}
