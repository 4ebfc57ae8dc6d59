package wire

import "math"

// Batch: 1 namespace, 2 policies, 3 operations, 4 tallies.

func (m *Batch) append(b []byte) []byte {
	b = appendText(b, 1, m.Namespace)
	var at int
	for i := range m.Policies {
		b, at = openElement(b, 2)
		b = m.Policies[i].append(b)
		closeElement(b, at)
	}
	for i := range m.Ops {
		b, at = openElement(b, 3)
		b = m.Ops[i].append(b)
		closeElement(b, at)
	}
	for i := range m.Tallies {
		b, at = openElement(b, 4)
		b = m.Tallies[i].append(b)
		closeElement(b, at)
	}
	return b
}

func (m *Batch) decode(b []byte) error {
	*m = Batch{Policies: m.Policies[:0], Ops: m.Ops[:0], Tallies: m.Tallies[:0]}
	return fields(b, 1<<2|1<<3|1<<4, func(f field) error {
		switch f.num {
		case 1:
			return text(f, &m.Namespace)
		case 2:
			return element(f, &m.Policies, MaxOperations, decodePolicy)
		case 3:
			return element(f, &m.Ops, MaxOperations, decodeOperation)
		case 4:
			return element(f, &m.Tallies, MaxTallies, decodeTally)
		}
		return nil
	})
}

// Policy: 1 generation, 2 ttl, 3 tombstone, 4 lease, 5 attempts, 6 recovery,
// 7 issued, 8 reject repeats, 9 replicas, 10 previous scopes.

func (m *Policy) append(b []byte) []byte {
	b = appendText(b, 1, m.Generation)
	b = appendNumber(b, 2, m.TTLMS)
	b = appendNumber(b, 3, m.TombstoneMS)
	b = appendNumber(b, 4, m.LeaseMS)
	b = appendNumber(b, 5, m.MaxAttempts)
	b = appendNumber(b, 6, m.Recovery)
	b = appendFlag(b, 7, m.Issued)
	b = appendFlag(b, 8, m.RejectRepeat)
	b = appendNumber(b, 9, m.Replicas)
	return appendText(b, 10, m.PreviousScopes)
}

func decodePolicy(b []byte, m *Policy) error {
	return fields(b, 0, func(f field) error {
		switch f.num {
		case 1:
			return text(f, &m.Generation)
		case 2:
			return number(f, &m.TTLMS, maxInt64)
		case 3:
			return number(f, &m.TombstoneMS, maxInt64)
		case 4:
			return number(f, &m.LeaseMS, maxInt64)
		case 5:
			return number(f, &m.MaxAttempts, maxInt64)
		case 6:
			return number(f, &m.Recovery, math.MaxUint8)
		case 7:
			return flag(f, &m.Issued)
		case 8:
			return flag(f, &m.RejectRepeat)
		case 9:
			return number(f, &m.Replicas, maxInt64)
		case 10:
			return text(f, &m.PreviousScopes)
		}
		return nil
	})
}

// Operation: 1 kind, 2 policy, 3 budget, 4 scope, 5 principal, 6 key, 7 owner,
// 8 fence, 9 fingerprint, 10 status, 11 no result, 12 result, 13 unprotected,
// 14 fetch, 15 trace, 16 retried, 17 ttl, 18 again.

func (m *Operation) append(b []byte) []byte {
	b = appendNumber(b, 1, m.Kind)
	b = appendNumber(b, 2, m.Policy)
	b = appendNumber(b, 3, m.BudgetMS)
	b = appendText(b, 4, m.Scope)
	b = appendText(b, 5, m.Principal)
	b = appendText(b, 6, m.Key)
	b = appendData(b, 7, m.Owner)
	b = appendNumber(b, 8, m.Fence)
	b = appendData(b, 9, m.Fingerprint)
	b = appendNumber(b, 10, m.Status)
	b = appendFlag(b, 11, m.NoResult)
	b = appendData(b, 12, m.Result)
	b = appendFlag(b, 13, m.Unprotected)
	b = appendFlag(b, 14, m.Fetch)
	b = appendText(b, 15, m.Trace)
	b = appendFlag(b, 16, m.Retried)
	b = appendNumber(b, 17, m.TTLMS)
	return appendFlag(b, 18, m.Again)
}

func decodeOperation(b []byte, m *Operation) error {
	return fields(b, 0, func(f field) error {
		switch f.num {
		case 1:
			return number(f, &m.Kind, math.MaxUint8)
		case 2:
			return number(f, &m.Policy, math.MaxUint16)
		case 3:
			return number(f, &m.BudgetMS, math.MaxUint32)
		case 4:
			return text(f, &m.Scope)
		case 5:
			return text(f, &m.Principal)
		case 6:
			return text(f, &m.Key)
		case 7:
			return data(f, &m.Owner)
		case 8:
			return number(f, &m.Fence, math.MaxUint64)
		case 9:
			return data(f, &m.Fingerprint)
		case 10:
			return number(f, &m.Status, math.MaxUint16)
		case 11:
			return flag(f, &m.NoResult)
		case 12:
			return data(f, &m.Result)
		case 13:
			return flag(f, &m.Unprotected)
		case 14:
			return flag(f, &m.Fetch)
		case 15:
			return text(f, &m.Trace)
		case 16:
			return flag(f, &m.Retried)
		case 17:
			return number(f, &m.TTLMS, maxInt64)
		case 18:
			return flag(f, &m.Again)
		}
		return nil
	})
}

// Tally: 1 policy, 2 scope, 3 class, 4 number.

func (m *Tally) append(b []byte) []byte {
	b = appendNumber(b, 1, m.Policy)
	b = appendText(b, 2, m.Scope)
	b = appendNumber(b, 3, m.Class)
	return appendNumber(b, 4, m.N)
}

func decodeTally(b []byte, m *Tally) error {
	return fields(b, 0, func(f field) error {
		switch f.num {
		case 1:
			return number(f, &m.Policy, math.MaxUint16)
		case 2:
			return text(f, &m.Scope)
		case 3:
			return number(f, &m.Class, math.MaxUint8)
		case 4:
			return number(f, &m.N, math.MaxUint32)
		}
		return nil
	})
}
