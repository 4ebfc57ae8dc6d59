package wire

// VersionOf returns the version of a batch or an answer that has been decoded.
func VersionOf(b []byte) uint8 { return b[0] }

// AppendAnswerAs is AppendAnswer in the version of the batch that is answered.
// Fields that [PreviousVersion] lacks are skipped by who reads it.
func AppendAnswerAs(dst []byte, version uint8, a *Answer) ([]byte, error) {
	return appendMessage(dst, version, a)
}

// AppendPrevious is AppendBatch for a bridge that serves [PreviousVersion] at most.
// It changes the operations' fingerprints to what that compares, and leaves the
// tallies out. Every operation must be in [InPrevious].
func AppendPrevious(dst []byte, b *Batch) ([]byte, error) {
	older := Batch{Namespace: b.Namespace, Policies: b.Policies, Ops: b.Ops}
	for i := range older.Ops {
		op := &older.Ops[i]
		op.Fingerprint = DowngradeFingerprint(op.Fingerprint)
	}
	return appendMessage(dst, PreviousVersion, &older)
}

// InPrevious reports whether [PreviousVersion] can say op. A bridge that knows no
// previous scopes would not look for a record there, and grant its key again.
func InPrevious(op *Operation, p *Policy) bool {
	return op.Kind <= Renew && p.PreviousScopes == ""
}
