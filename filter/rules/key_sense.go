package rules

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// notOfAnAction are headers that say something of the connection, the exchange or
// the client: they are equal for different actions, or new for each retry.
var notOfAnAction = []string{
	"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "te", "trailer", "upgrade", "expect",
	"date", "user-agent", "accept", "accept-encoding", "accept-language", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host",
	"traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid",
}

// notOfACaller are headers that name no caller, whoever sets them.
var notOfACaller = append([]string{"idempotency-key", "x-request-id"}, notOfAnAction...)

// checkCallerHeader refuses a header that would make every request's caller another
// one, or one caller of all.
func (p *parser) checkCallerHeader(at string, n *node) {
	if n.good() && (slices.Contains(notOfACaller, n.text) || slices.Contains(ownHeaders, n.text) || strings.HasPrefix(n.text, "x-envoy-")) {
		p.add(at, n, "cannot be a principal: it does not say who the caller is")
	}
}

// checkKeySources refuses a source that would never be looked at, and a part that
// adds nothing.
func (p *parser) checkKeySources(at string, sources []KeySource) {
	for i := range sources {
		if len(sources[i].All) > 0 {
			p.checkKeySources(at+"["+strconv.Itoa(i)+"].all", sources[i].All)
		}
		if reflect.DeepEqual(sources[i], KeySource{}) {
			continue // reported already
		}
		for n := range i {
			if reflect.DeepEqual(sources[i], sources[n]) {
				p.add(at+"["+strconv.Itoa(i)+"]", nil, "is there twice, first at [%d]", n)
				break
			}
		}
	}
}

// checkSatisfiable refuses a grammar that no key meets.
func (p *parser) checkSatisfiable(k *Key, least, set, bits *node) {
	g := &k.Grammar
	if g.UUID && g.MinLength > 36 {
		p.add("key.min_length", least, "must be <= 36, the length of a UUID")
	}
	if g.UUID && g.Alphabet != nil && !(g.Alphabet.Holds("-0123456789") && (g.Alphabet.Holds("abcdef") || g.Alphabet.Holds("ABCDEF"))) {
		p.add("key.alphabet", set, "leaves out characters that a UUID has: 0-9, a-f and '-'")
	}
	// The most that a key can have: each of its bytes another one, or as even as its
	// length and alphabet allow.
	length, kinds := k.MaxLength, 256
	if g.UUID {
		length, kinds = 36, 17
	}
	if g.Alphabet != nil {
		kinds = min(kinds, g.Alphabet.Len())
	}
	if most := int(float64(length) * math.Log2(float64(min(length, kinds)))); g.MinEntropyBits > most && length > 0 && kinds > 0 {
		p.add("key.min_entropy_bits", bits, "must be <= %d, the most that a key of this length and alphabet can have", most)
	}
}
