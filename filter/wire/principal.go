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
