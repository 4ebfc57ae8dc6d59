package filter

import (
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
)

// longestPreference bounds what a client may ask for; more is cut to it, and to
// the rule's max_wait.
const longestPreference = 3600

// preferredWait reads the wait preference (RFC 7240, section 4.3): whole seconds.
// Of several the first counts, and one that is no number is none.
func preferredWait(lines []string) (seconds int64, ok bool) {
	for _, line := range lines {
		for rest := line; rest != ""; {
			var item string
			item, rest = cutUnquoted(rest, ',')
			item, _ = cutUnquoted(item, ';')
			name, value, _ := strings.Cut(item, "=")
			if !strings.EqualFold(strings.Trim(name, " \t"), "wait") {
				continue
			}
			value = strings.Trim(value, " \t")
			if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
				value = value[1 : n-1]
			}
			if value == "" || strings.Trim(value, "0123456789") != "" {
				return 0, false
			}
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n > longestPreference {
				n = longestPreference
			}
			return n, true
		}
	}
	return 0, false
}

// cutUnquoted cuts s around the first sep that is not within a quoted-string (RFC
// 9110, section 5.6.4). One that is never closed reaches to the end of s.
func cutUnquoted(s string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case c == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// readPreference takes the client's word on how long it waits for a concurrent
// request. The rule's max_wait bounds it; a rule that states none does not let
// its clients wait.
func (s *Stream) readPreference(r Request) {
	if s.rule.InFlight.MaxWait == 0 {
		return
	}
	if n, ok := preferredWait(r.Header("prefer")); ok {
		s.prefers = true
		s.patience = min(time.Duration(n)*time.Second, s.rule.InFlight.MaxWait)
		return
	}
	if s.rule.InFlight.Action == rules.Wait {
		s.patience = s.rule.InFlight.MaxWait
	}
}

// preferenceApplied says what became of the preference, on the answer of a request
// that met a concurrent one.
func (s *Stream) preferenceApplied(h [][2]string) [][2]string {
	if !s.prefers || !s.told {
		return h
	}
	seconds := (s.patience + time.Second - 1) / time.Second
	return append(h, [2]string{"preference-applied", "wait=" + itoa(int64(seconds))})
}
