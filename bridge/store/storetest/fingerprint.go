package storetest

import "github.com/oncewall/oncewall/filter/wire"

// partly is a fingerprint of method, target, body and headers, each a letter; 0
// leaves the part out. The body's algorithm is tag.
func partly(tag wire.Algorithm, letters [4]byte) []byte {
	fp := []byte{wire.FingerprintVersion}
	for i, letter := range letters {
		id := wire.PartID(i + 1)
		a := wire.AlgorithmConfigured
		switch id {
		case wire.PartMethod, wire.PartTarget:
			a = wire.AlgorithmFixed
		case wire.PartBody:
			a = tag
		}
		if letter != 0 {
			fp = wire.AppendPart(fp, id, a, [wire.DigestBytes]byte{31: letter})
		}
	}
	return fp
}

// Fingerprints are compared part by part, and only what one algorithm made.
var fingerprintRows = []row{
	{"any state: claim, fingerprint of another configuration: what can be compared is", func(k *key) {
		const tag, other = wire.AlgorithmConfigured, wire.AlgorithmConfigured + 256
		all := partly(tag, [4]byte{'m', 't', 'b', 'h'})
		old := wire.DowngradeFingerprint
		for _, c := range []struct {
			what           string
			record, caller []byte
			code           wire.Code
		}{
			{"the same", all, all, wire.InFlight},
			{"method", all, partly(tag, [4]byte{'x', 't', 'b', 'h'}), wire.KeyReused},
			{"target", all, partly(tag, [4]byte{'m', 'x', 'b', 'h'}), wire.KeyReused},
			{"body", all, partly(tag, [4]byte{'m', 't', 'x', 'h'}), wire.KeyReused},
			{"headers", all, partly(tag, [4]byte{'m', 't', 'b', 'x'}), wire.KeyReused},
			{"body, compared in another way", all, partly(other, [4]byte{'m', 't', 'x', 'h'}), wire.InFlight},
			{"body in another way, and the headers", all, partly(other, [4]byte{'m', 't', 'x', 'x'}), wire.KeyReused},
			{"no body and headers", all, partly(tag, [4]byte{'m', 't', 0, 0}), wire.InFlight},
			{"no body and headers, another target", all, partly(tag, [4]byte{'m', 'x', 0, 0}), wire.KeyReused},
			{"the record has the target alone", partly(tag, [4]byte{0, 't', 0, 0}), all, wire.InFlight},
			{"version 1, the same", old(all), all, wire.InFlight},
			{"version 1, method", old(all), partly(tag, [4]byte{'x', 't', 'b', 'h'}), wire.KeyReused},
			{"version 1, target", old(all), partly(tag, [4]byte{'m', 'x', 'b', 'h'}), wire.KeyReused},
			{"version 1, body", old(all), partly(tag, [4]byte{'m', 't', 'x', 'h'}), wire.InFlight},
			{"both version 1, body", old(all), old(partly(tag, [4]byte{'m', 't', 'x', 'h'})), wire.KeyReused},
			{"version 1 asks, target", all, old(partly(tag, [4]byte{'m', 'x', 'b', 'h'})), wire.KeyReused},
			{"no version that is known", all, append([]byte{9}, all[1:]...), wire.KeyReused},
		} {
			one := newKey(k.T, k.h)
			one.print = c.record
			one.want(one.claim(owner()), wire.Created)
			one.print = c.caller
			if r := one.claim(owner()); r.Code != c.code {
				k.Errorf("%s: %v, want %v", c.what, r.Code, c.code)
			}
		}
	}},
	{"UNKNOWN over: claim, fingerprint of another configuration: taken over, and kept", func(k *key) {
		const tag, other = wire.AlgorithmConfigured, wire.AlgorithmConfigured + 1
		k.print = partly(tag, [4]byte{'m', 't', 'b', 0})
		k.short(wire.Reacquire)
		k.unknown(k.granted())
		k.over()
		k.print = partly(other, [4]byte{'m', 't', 'x', 0})
		k.want(k.claim(owner()), wire.Created)
		k.print = partly(other, [4]byte{'m', 't', 'y', 0})
		k.want(k.claim(owner()), wire.KeyReused)
	}},
}
