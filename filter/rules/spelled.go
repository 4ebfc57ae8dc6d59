package rules

import "slices"

// indexes are those that apply to a host, the first to be asked first.
type indexes []*index

// find looks up a path in normal form.
func (at indexes) find(q query, path string) *Rule {
	for _, x := range at {
		if r := x.find(q, path); r != nil {
			return r
		}
	}
	return nil
}

// spelled is [Config.Select] for a path that is not in normal form. Readings are
// compared over all indexes: what one reader finds in the rules for the host does
// not hide what another finds in those for every host.
func (at indexes) spelled(q query, path string) *Rule {
	read, plain := readings(path, slices.ContainsFunc(at, func(x *index) bool { return x.wide }))
	if plain {
		return at.strictest(q, read)
	}
	q.enforcing = true
	var met *Rule
	meets := func(r *Rule) {
		switch {
		case r == nil || r == met || met == Ambiguous:
		case met != nil:
			met = ambiguous(met, r)
		default:
			met = r
		}
	}
	for _, reading := range read {
		meets(at.find(q, reading.path()))
	}
	for _, reading := range read {
		for _, x := range at {
			if met == Ambiguous {
				return met
			}
			if reading.ambiguous || x.wide {
				meets(x.findWithin(q, reading))
			}
		}
	}
	return met
}

// strictest is the rule of readings that differ in percent-encoding alone. Of two
// that are as strict the one of the commoner reading counts, which comes first. A
// reader that takes no encoding off tells every spelling from every other, so it
// runs nothing twice under two rules: it makes none ambiguous.
func (at indexes) strictest(q query, read []reading) *Rule {
	var met *Rule
	for _, reading := range read {
		r := at.find(q, reading.path())
		switch {
		case r == nil || r == met:
		case met == nil || r.strictness() > met.strictness():
			met = r
		case r.Mode == Enforce && r.Scope != met.Scope && met.Mode == Enforce && decode(reading.text) != read[0].text:
			return Ambiguous
		}
	}
	return met
}

// strictness orders rules by what they do to a request.
func (r *Rule) strictness() int {
	switch r.Mode {
	case Off:
		return 0
	case Observe:
		return 1
	}
	return 2
}
