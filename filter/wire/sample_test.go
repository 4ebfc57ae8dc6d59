package wire

import "bytes"

// Samples with every field set, so that a field that is lost is noticed.

func sampleBatch() *Batch {
	return &Batch{
		Namespace: "edge",
		Policies: []Policy{{Generation: "g1", TTLMS: 86_400_000, TombstoneMS: 1, LeaseMS: 60_000, MaxAttempts: 3,
			Recovery: Reacquire, Issued: true, RejectRepeat: true, Replicas: 2, PreviousScopes: "old,older"}},
		Ops: []Operation{
			{Kind: Claim, BudgetMS: 250, Scope: "payments", Principal: "user:u1", Key: "k1",
				Owner: bytes.Repeat([]byte{1}, OwnerBytes), Fingerprint: sampleFingerprint(1), Fetch: true, Retried: true,
				Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
			{Kind: Complete, Policy: 1, BudgetMS: 1, Scope: "s", Principal: "p", Key: "k2", Owner: []byte{2}, Fence: 1 << 60,
				Status: 201, Result: []byte("result"), Unprotected: true, TTLMS: 9},
			{Kind: Executed, Scope: "s", Principal: "p", Key: "k3", NoResult: true},
		},
		Tallies: []Tally{{Policy: 1, Scope: "payments", Class: GatewayRetry, N: 1 << 31}},
	}
}

func sampleAnswer() *Answer {
	return &Answer{Results: []Result{
		{Code: Created, Fence: 1 << 60, Attempt: 2, LeaseMS: 60_000, Restored: true},
		{Code: Replayed, Status: 201, AgeMS: 5, RemainingMS: 6, Result: []byte("result")},
		{Code: InFlight, RetryAfterMS: 7},
		{Code: Found, State: StateUnknown},
		{Code: Replayed, Withheld: true},
		{Code: KeyReused, Differs: []byte{byte(PartMethod), byte(PartBody)}},
		{Code: Issued, Key: "k", ExpiresAtMS: 1_800_000_000_000},
		{Code: Invalid, Text: "no scope"},
	}}
}

func sampleResponse() *Response {
	return &Response{Status: 201, Headers: []HeaderLine{{"set-cookie", "a"}, {"set-cookie", "b"}, {"x", ""}}, Body: []byte{0, 255, 10}}
}

func sampleFingerprint(seed byte) []byte {
	fp := []byte{FingerprintVersion}
	for _, id := range []PartID{PartMethod, PartTarget, PartBody} {
		fp = AppendPart(fp, id, AlgorithmConfigured, [DigestBytes]byte{seed, byte(id)})
	}
	return fp
}

// kinds are the three messages behind one face.
var kinds = []struct {
	name   string
	encode func() ([]byte, error)
	// decode decodes into a message that was in use before and returns it.
	decode func([]byte) (any, error)
	// recode encodes what decode returned.
	recode func(any) ([]byte, error)
	sample any
}{
	{"batch", func() ([]byte, error) { return AppendBatch(nil, sampleBatch()) },
		func(b []byte) (any, error) { m := sampleBatch(); err := DecodeBatch(b, m); return m, err },
		func(m any) ([]byte, error) { return AppendBatch(nil, m.(*Batch)) }, sampleBatch()},
	{"answer", func() ([]byte, error) { return AppendAnswer(nil, sampleAnswer()) },
		func(b []byte) (any, error) { m := sampleAnswer(); err := DecodeAnswer(b, m); return m, err },
		func(m any) ([]byte, error) { return AppendAnswer(nil, m.(*Answer)) }, sampleAnswer()},
	{"response", func() ([]byte, error) { return AppendResponse(nil, sampleResponse()) },
		func(b []byte) (any, error) { m := sampleResponse(); err := DecodeResponse(b, m); return m, err },
		func(m any) ([]byte, error) { return AppendResponse(nil, m.(*Response)) }, sampleResponse()},
}
