package wire

import "testing"

// TestEncodePrincipal pins the bytes: they are part of every record's name.
func TestEncodePrincipal(t *testing.T) {
	if got, want := EncodePrincipal(1, "x-user", "ann"), "\x01\x06\x00\x00\x00x-user\x03\x00\x00\x00ann"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	seen := map[string]bool{}
	for _, p := range [][2]string{{"a", "bc"}, {"ab", "c"}, {"", "abc"}, {"abc", ""}} {
		for _, kind := range []uint8{1, PrincipalAPI} {
			if e := EncodePrincipal(kind, p[0], p[1]); seen[e] {
				t.Errorf("%d %q shares %q", kind, p, e)
			} else {
				seen[e] = true
			}
		}
	}
}
