package reconcile

import "testing"

// A scope's own namespace goes before anyone, wherever the two stand, and no other
// namespace's backend is asked.
func TestScopeOf(t *testing.T) {
	anyone, own, other := Scope{Scope: "s"}, Scope{Namespace: "n", Scope: "s"}, Scope{Namespace: "m", Scope: "s"}
	for _, c := range []struct {
		scopes []Scope
		want   *Scope // nil: none
	}{
		{[]Scope{anyone, own, other}, &own},
		{[]Scope{own, other, anyone}, &own},
		{[]Scope{other, anyone}, &anyone},
		{[]Scope{anyone, other}, &anyone},
		{[]Scope{other}, nil},
		{[]Scope{{Namespace: "n", Scope: "t"}, {Scope: "t"}}, nil},
	} {
		r := &Reconciler{}
		for _, s := range c.scopes {
			r.scopes = append(r.scopes, newScope(s))
		}
		switch got := r.scopeOf("n", "s"); {
		case (got != nil) != (c.want != nil):
			t.Errorf("%v: got %v, want %v", c.scopes, got, c.want)
		case got != nil && got.Namespace != c.want.Namespace:
			t.Errorf("%v: got that of %q, want that of %q", c.scopes, got.Namespace, c.want.Namespace)
		}
		if Asked(c.scopes)("n", "s") != (c.want != nil) {
			t.Errorf("%v: asked is %v", c.scopes, c.want == nil)
		}
	}
}
