package filter

import (
	"errors"
	"strconv"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/key"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// principalOf returns the encoded principal of a request: kind of source,
// issuer and value, each with its length, so that no two principals share an
// encoding. false: the rule's source is not there, or not unambiguous.
func principalOf(rule *Rule, r Request) (string, bool) {
	p := &rule.Principal
	var issuer, value string
	switch p.Kind {
	case rules.PrincipalAnonymous:
	case rules.PrincipalConst:
		value = p.Const
	case rules.PrincipalHeader:
		issuer = p.Header
		lines := r.Header(p.Header)
		if len(lines) != 1 || lines[0] == "" {
			return "", false
		}
		value = lines[0]
	case rules.PrincipalJWT:
		if iss, ok := r.Property(rule.issuerPath...); !ok || iss != p.Issuer {
			return "", false
		}
		var ok bool
		issuer = p.Issuer
		if value, ok = r.Property(rule.claimPath...); !ok || value == "" {
			return "", false
		}
	default:
		return "", false
	}
	if len(value)+len(issuer)+16 > wire.MaxPrincipalBytes {
		return "", false
	}
	return wire.EncodePrincipal(uint8(p.Kind), issuer, value), true
}

// refusal is a problem with what this request adds to it.
type refusal struct {
	problem *problem
	extra   extra
}

func invalidKey(err error) *refusal {
	return &refusal{problemKeyInvalid, extra{reason: keyReason(err)}}
}

// keyReason is the fixed text that tells the client which rule its key broke.
func keyReason(err error) string {
	switch {
	case errors.Is(err, key.ErrMultiple):
		return "The key was sent more than once."
	case errors.Is(err, key.ErrList):
		return "A list of keys was sent."
	case errors.Is(err, key.ErrTooLong):
		return "The key is too long."
	case errors.Is(err, key.ErrEmpty):
		return "The key is empty."
	case errors.Is(err, canon.ErrAmbiguous):
		return "The member that holds the key occurs more than once, or in another case."
	}
	return ""
}

// keyFromHeaders looks for the key in the rule's sources, in their order, up to
// the first one that lies in the body.
func (s *Stream) keyFromHeaders(r Request) *refusal {
	for i := range s.rule.Key.From {
		src := &s.rule.Key.From[i]
		if src.Header == "" {
			s.laterKeys(i, r)
			return nil
		}
		lines := r.Header(src.Header)
		if len(lines) == 0 {
			continue
		}
		k, err := key.Parse(lines, s.rule.Key.MaxLength)
		if err != nil {
			return invalidKey(err)
		}
		s.key = k
		return nil
	}
	return nil
}

// laterKeys keeps the header lines of the sources behind the first one in the
// body: that one is looked at first.
func (s *Stream) laterKeys(from int, r Request) {
	s.keyLines = make([][]string, len(s.rule.Key.From))
	for i := from + 1; i < len(s.keyLines); i++ {
		if h := s.rule.Key.From[i].Header; h != "" {
			s.keyLines[i] = r.Header(h)
		}
	}
}

// keyInBody reports whether the key may be in the body.
func (s *Stream) keyInBody() bool { return s.keyLines != nil }

// keyFromBody looks for the key in the sources that keyFromHeaders left.
func (s *Stream) keyFromBody() *refusal {
	limit := s.rule.Key.MaxLength
	seen := false
	for i := range s.rule.Key.From {
		src := &s.rule.Key.From[i]
		seen = seen || src.Header == ""
		if !seen {
			continue
		}
		if src.Header != "" {
			if len(s.keyLines[i]) == 0 {
				continue
			}
			k, err := key.Parse(s.keyLines[i], limit)
			if err != nil {
				return invalidKey(err)
			}
			s.key = k
			return nil
		}
		k, found, err := jsonKey(s.body, src.JSON, limit)
		if err != nil {
			return invalidKey(err)
		}
		if found {
			s.key = k
			return nil
		}
	}
	return nil
}

// jsonKey joins the values at the pointers; found only if all are there.
func jsonKey(body []byte, pointers []string, limit int) (k string, found bool, err error) {
	parts := make([]string, len(pointers))
	for i, p := range pointers {
		v, ok, err := canon.Lookup(body, p)
		if err != nil {
			return "", false, err
		}
		if !ok {
			return "", false, nil
		}
		parts[i] = v
	}
	k, err = key.FromParts(parts, limit)
	return k, true, err
}

// contentLength returns the declared length of the body.
func contentLength(r Request) (int64, bool) {
	l := r.Header("content-length")
	if len(l) != 1 {
		return 0, false
	}
	return parseLength(l[0])
}

func parseLength(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
