package rules

import (
	"slices"
	"testing"
)

func TestClaimPath(t *testing.T) {
	for claim, want := range map[string][]string{
		"sub": {"sub"}, "org.id": {"org", "id"}, "a/b": {"a/b"}, "a~1b": {"a~1b"},
		"/sub": {"sub"}, "/org/id": {"org", "id"}, "/https:~1~1id.example~1tenant": {"https://id.example/tenant"}, "/a~01": {"a~1"}, "/a.b/c": {"a.b", "c"},
	} {
		if got := ClaimPath(claim); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", claim, got, want)
		}
	}
}
