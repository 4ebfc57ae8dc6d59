package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// word is one word of a step: bare, or a name with a value.
type word struct {
	name  string
	value string
	valued,
	absent bool // written !name
}

// words splits what follows a step's colon. A value may stand in double quotes,
// with Go's escapes, and must where it has spaces.
func words(s string) ([]word, error) {
	var out []word
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, " ") {
		end := strings.IndexAny(s, " =")
		if end < 0 {
			end = len(s)
		}
		w := word{name: s[:end]}
		s = s[end:]
		if strings.HasPrefix(s, "=") {
			w.valued = true
			s = s[1:]
			if strings.HasPrefix(s, `"`) {
				q, err := strconv.QuotedPrefix(s)
				if err != nil {
					return nil, fmt.Errorf("%s: a value in quotes that does not end", w.name)
				}
				if w.value, err = strconv.Unquote(q); err != nil {
					return nil, fmt.Errorf("%s: %w", w.name, err)
				}
				s = s[len(q):]
				if s != "" && s[0] != ' ' {
					return nil, fmt.Errorf("%s: a space must follow the closing quote", w.name)
				}
			} else {
				end := strings.IndexByte(s, ' ')
				if end < 0 {
					end = len(s)
				}
				w.value, s = s[:end], s[end:]
			}
		}
		if strings.HasPrefix(w.name, "!") {
			w.name, w.absent = w.name[1:], true
			if w.valued {
				return nil, fmt.Errorf("!%s takes no value", w.name)
			}
		}
		if w.name == "" {
			return nil, fmt.Errorf("a word without a name before %q", s)
		}
		out = append(out, w)
	}
	return out, nil
}

// maxSize bounds the bodies that a story makes by their size.
const maxSize = 64 << 20

// sized makes a body of n bytes that is not the same everywhere.
func sized(n string) ([]byte, error) {
	size, err := strconv.Atoi(n)
	if err != nil || size < 0 || size > maxSize {
		return nil, fmt.Errorf("size %q is no number from 0 to %d", n, maxSize)
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b, nil
}

// header checks that a word names a header.
func (w word) header() error {
	for i := range len(w.name) {
		c := w.name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && (c != ':' || i > 0) {
			return fmt.Errorf("unknown word %q: neither known here nor a header in lower case", w.name)
		}
	}
	return nil
}

// bare wants words without values.
func bare(ws []word) ([]string, error) {
	var out []string
	for _, w := range ws {
		if w.valued || w.absent {
			return nil, fmt.Errorf("%s: takes no value here", w.name)
		}
		out = append(out, w.name)
	}
	return out, nil
}
