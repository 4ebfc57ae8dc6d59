package filter

import (
	"encoding/base64"
	"strings"
)

// maxStatedDigests bounds the members of one Content-Digest.
const maxStatedDigests = 8

// statedDigest returns the digest of the body that the lines of Content-Digest
// (RFC 9530) state: sha-256, or else sha-512. ok is false where neither is
// there, or the lines are anything but a dictionary of byte sequences without
// parameters, each name once (RFC 9651): no other program may read another
// digest from them.
func statedDigest(lines []string) (algorithm string, digest []byte, ok bool) {
	seen := make([]string, 0, 2)
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			name, value, found := strings.Cut(strings.Trim(member, " \t"), "=")
			if !found || !dictionaryKey(name) || len(seen) == maxStatedDigests {
				return "", nil, false
			}
			for _, other := range seen {
				if other == name {
					return "", nil, false
				}
			}
			seen = append(seen, name)
			bytes, good := byteSequence(value)
			if !good {
				return "", nil, false
			}
			switch {
			case name == "sha-256" && len(bytes) == 32,
				name == "sha-512" && len(bytes) == 64 && algorithm == "":
				algorithm, digest = name, bytes
			case name == "sha-512" && len(bytes) == 64:
			case name == "sha-256" || name == "sha-512":
				return "", nil, false
			}
		}
	}
	return algorithm, digest, algorithm != ""
}

// dictionaryKey reports whether s is a key of a structured field.
func dictionaryKey(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if ('a' > c || c > 'z') && c != '*' && (i == 0 || ('0' > c || c > '9') && c != '_' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// byteSequence decodes ":base64:".
func byteSequence(s string) ([]byte, bool) {
	if len(s) < 2 || s[0] != ':' || s[len(s)-1] != ':' || strings.ContainsAny(s, "\r\n") {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s[1 : len(s)-1])
	return b, err == nil
}
