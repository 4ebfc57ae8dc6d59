package filter

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// The algorithms of body and headers name the configuration that shaped their
// digests, so that digests of two configurations are never compared. Nothing of
// a request enters them: a client cannot choose one.
//
// The texts they are made from change whenever equal bodies or headers would get
// another digest, unless so few would that it is better to go on comparing the rest
// with records of before; the domains of package canon tell the ways within one
// algorithm apart.
const (
	bodyAlgorithmText    = "oncewall/body/2\x00"
	headersAlgorithmText = "oncewall/headers/2\x00"
)

// bodyAlgorithm is that of a rule's bodies.
func bodyAlgorithm(f *rules.Fingerprint) wire.Algorithm {
	b := append([]byte(bodyAlgorithmText), byte(f.Body))
	b = binary.AppendUvarint(b, uint64(f.MaxDecodedBody))
	// Bodies up to max_body look the same whatever it is.
	if f.Over > rules.OverReject {
		b = append(b, byte(f.Over))
		b = binary.AppendUvarint(b, uint64(f.MaxBody))
	} else {
		b = append(b, 0)
	}
	return algorithm(appendTexts(b, f.Ignore))
}

// headersAlgorithm is that of the lines of a rule's headers.
func headersAlgorithm(f *rules.Fingerprint) wire.Algorithm {
	return algorithm(appendTexts([]byte(headersAlgorithmText), f.Headers))
}

// algorithm takes two bytes of a digest: of two configurations that a rule ever
// has, one pair in 65,000 is taken for one, whose requests are then compared as
// if nothing had changed.
func algorithm(b []byte) wire.Algorithm {
	sum := sha256.Sum256(b)
	a := wire.Algorithm(binary.BigEndian.Uint16(sum[:]))
	if a < wire.AlgorithmConfigured {
		a += wire.AlgorithmConfigured
	}
	return a
}

func appendTexts(b []byte, texts []string) []byte {
	for _, s := range texts {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}
