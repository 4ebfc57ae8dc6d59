package canon

import "testing"

// benchBodies are ordinary requests of a payment API.
var benchBodies = []struct{ name, body string }{
	{"200B", `{"amount":12.50,"currency":"EUR","debtor":"DE02120300000000202051","creditor":"DE02500105170137075030",` +
		`"reference":"invoice 2024-0042","transfer_id":"0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"}`},
	{"2KB", `{"id":"0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b","lines":[` + lines + `],"customer":{"name":"Zoë \"Z\" Müller","email":"z@example.com",` +
		`"address":{"street":"Hauptstraße 1","zip":"10115","city":"Berlin","country":"DE"}},"total":1234.50,"test":false,"note":null}`},
}

const line = `{"sku":"SKU-000123","quantity":2,"unit_price":19.99,"tax":{"rate":0.19,"amount":7.60},"attributes":["red","xl"],"gift":false}`
const lines = line + "," + line + "," + line + "," + line + "," + line + "," + line + "," + line + "," + line + "," + line + "," + line + "," + line + "," + line

func BenchmarkDigest(b *testing.B) {
	for _, bb := range benchBodies {
		body := []byte(bb.body)
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Digest(body); !ok {
					b.Fatal("not canonical")
				}
			}
		})
	}
}

func BenchmarkRawDigest(b *testing.B) {
	for _, bb := range benchBodies {
		body := []byte(bb.body)
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				RawDigest(body)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	body := []byte(benchBodies[0].body)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, found, _ := Lookup(body, "/transfer_id"); !found {
			b.Fatal("not found")
		}
	}
}

// TestAllocations is the budget of an ordinary body: one allocation for the
// index and one for the text.
func TestAllocations(t *testing.T) {
	body := []byte(benchBodies[0].body)
	if n := testing.AllocsPerRun(100, func() { Digest(body) }); n > 2 {
		t.Errorf("Digest makes %v allocations, want at most 2", n)
	}
	if n := testing.AllocsPerRun(100, func() { Lookup(body, "/transfer_id") }); n > 2 {
		t.Errorf("Lookup makes %v allocations, want at most 2", n)
	}
}
