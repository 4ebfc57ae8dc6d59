package wire

import "encoding/binary"

// PrincipalAPI is the kind of the principals of the bridge's JSON API. The kinds
// of a rule's sources count up from 1 (rules.PrincipalKind).
const PrincipalAPI = 128

// EncodePrincipal returns the form in which a principal travels and names
// records: kind of source, issuer and value, each with its length, so that no two
// principals share one.
func EncodePrincipal(kind uint8, issuer, value string) string {
	b := make([]byte, 0, len(issuer)+len(value)+9)
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(issuer)))
	b = append(b, issuer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
	return string(append(b, value...))
}

// DecodePrincipal is the reverse of EncodePrincipal. false: s is not of its form.
func DecodePrincipal(s string) (kind uint8, issuer, value string, ok bool) {
	if s == "" {
		return 0, "", "", false
	}
	kind, s = s[0], s[1:]
	for _, part := range []*string{&issuer, &value} {
		if len(s) < 4 {
			return 0, "", "", false
		}
		n := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
		if s = s[4:]; n > uint64(len(s)) {
			return 0, "", "", false
		}
		*part, s = s[:n], s[n:]
	}
	return kind, issuer, value, s == ""
}
