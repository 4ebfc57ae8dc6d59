package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			enc, err := k.encode()
			if err != nil {
				t.Fatal(err)
			}
			want := byte(Version)
			if k.name == "response" {
				want = ResponseVersion
			}
			if enc[0] != want {
				t.Errorf("first byte is %d, want the version, %d", enc[0], want)
			}
			got, err := k.decode(enc)
			if err != nil || !reflect.DeepEqual(got, k.sample) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, k.sample)
			}
		})
	}
}

// TestRoundTripAny draws batches, answers and responses of any content.
func TestRoundTripAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.Custom(func(t *rapid.T) Policy { return fill(rapid.Make[Policy]().Draw(t, "policy")) })
		op := rapid.Custom(func(t *rapid.T) Operation { return fill(rapid.Make[Operation]().Draw(t, "op")) })
		result := rapid.Custom(func(t *rapid.T) Result { return fill(rapid.Make[Result]().Draw(t, "result")) })
		line := rapid.Make[HeaderLine]()

		b := Batch{Namespace: rapid.String().Draw(t, "namespace"),
			Policies: rapid.SliceOfN(policy, 1, 4).Draw(t, "policies"), Ops: rapid.SliceOfN(op, 1, 8).Draw(t, "ops")}
		enc, err := AppendBatch([]byte("before"), &b)
		var gotB Batch
		if err != nil || !bytes.HasPrefix(enc, []byte("before")) {
			t.Fatalf("encode: %v", err)
		}
		if err := DecodeBatch(enc[6:], &gotB); err != nil || !reflect.DeepEqual(gotB, b) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, gotB, b)
		}

		a := Answer{Results: rapid.SliceOfN(result, 1, 8).Draw(t, "results")}
		enc, _ = AppendAnswer(nil, &a)
		var gotA Answer
		if err := DecodeAnswer(enc, &gotA); err != nil || !reflect.DeepEqual(gotA, a) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, gotA, a)
		}

		r := fill(Response{Status: rapid.Uint16().Draw(t, "status"), Headers: rapid.SliceOfN(line, 1, 8).Draw(t, "lines"),
			Body: rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "body")})
		enc, _ = AppendResponse(nil, &r)
		var gotR Response
		if err := DecodeResponse(enc, &gotR); err != nil || !reflect.DeepEqual(gotR, r) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, gotR, r)
		}
	})
}

// fill replaces nil byte slices: the wire has one form of an empty slice, and
// reflect.DeepEqual has two. It also takes the sign from numbers, since no
// message holds a negative one.
func fill[T any](m T) T {
	v := reflect.ValueOf(&m).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Type() == reflect.TypeFor[[]byte]() && f.Len() == 0 {
			f.SetBytes([]byte{0})
		} else if f.Kind() == reflect.Int64 && f.Int() < 0 {
			f.SetInt(^f.Int())
		}
	}
	return m
}

// TestReuse: what a message held before does not shine through fields that the
// encoding leaves out.
func TestReuse(t *testing.T) {
	enc, _ := AppendBatch(nil, &Batch{Policies: []Policy{{}}, Ops: []Operation{{Kind: Claim}}})
	m := sampleBatch()
	m.Ops[0].Fence, m.Ops[0].Unprotected = 7, true
	if err := DecodeBatch(enc, m); err != nil {
		t.Fatal(err)
	}
	if want := (Operation{Kind: Claim}); !reflect.DeepEqual(m.Ops[0], want) {
		t.Errorf("got %+v, want %+v", m.Ops[0], want)
	}
	enc, _ = AppendAnswer(nil, &Answer{Results: []Result{{Code: OK}}})
	a := sampleAnswer()
	if err := DecodeAnswer(enc, a); err != nil || !reflect.DeepEqual(a.Results[0], Result{Code: OK}) {
		t.Errorf("got %+v, %v", a.Results[0], err)
	}
}

// TestAlias: bodies are not copied.
func TestAlias(t *testing.T) {
	enc, _ := AppendResponse(nil, sampleResponse())
	var r Response
	if err := DecodeResponse(enc, &r); err != nil {
		t.Fatal(err)
	}
	enc[bytes.LastIndexByte(enc, 10)] = 11
	if r.Body[2] != 11 {
		t.Error("the body is a copy")
	}
}

// TestAliasesHaveNoRoom: what is appended to a field must not run into the next one,
// which shares its memory.
func TestAliasesHaveNoRoom(t *testing.T) {
	b, err := AppendBatch(nil, sampleBatch())
	if err != nil {
		t.Fatal(err)
	}
	var m Batch
	if err := DecodeBatch(b, &m); err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(b)
	for _, field := range [][]byte{m.Ops[0].Owner, m.Ops[0].Fingerprint, m.Ops[1].Result} {
		_ = append(field, 0xff)
	}
	if !bytes.Equal(b, before) {
		t.Error("an append to a field has changed the message")
	}
}

func TestVersions(t *testing.T) {
	for _, k := range kinds {
		enc, _ := k.encode()
		for _, v := range []byte{0, Version + 1, 255} {
			enc[0] = v
			_, err := k.decode(enc)
			var ve *VersionError
			if !errors.As(err, &ve) || ve.Got != v {
				t.Errorf("%s of version %d: %v", k.name, v, err)
			}
		}
		if _, err := k.decode(nil); err != ErrEmpty {
			t.Errorf("empty %s: %v", k.name, err)
		}
	}
}

// TestCutAndTrailing: no prefix of a message is a message, nor is a message with
// something behind it.
func TestCutAndTrailing(t *testing.T) {
	for _, k := range kinds {
		enc, _ := k.encode()
		for n := range enc {
			if _, err := k.decode(enc[:n]); err == nil {
				t.Errorf("%s cut to %d of %d bytes decodes", k.name, n, len(enc))
			}
		}
		if _, err := k.decode(append(enc, 0xc0)); err != ErrTrailing {
			t.Errorf("%s with a byte behind it: %v", k.name, err)
		}
	}
}

// TestUnknownField: a field of a later minor form is skipped.
func TestUnknownField(t *testing.T) {
	later := inside(60, []byte("later"))
	later = append(append(later, tag(70, protowire.Fixed64Type)...), 1, 2, 3, 4, 5, 6, 7, 8)
	later = append(append(later, tag(61, protowire.VarintType)...), 5)
	b := whole(append(inside(1, later), later...)...)
	if err := DecodeAnswer(b, &Answer{}); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		size int
		do   func(n int) error
	}{
		{"operations", MaxOperations, func(n int) error {
			enc, _ := AppendBatch(nil, &Batch{Policies: make([]Policy, 1), Ops: make([]Operation, n)})
			return DecodeBatch(enc, &Batch{})
		}},
		{"policies", MaxOperations, func(n int) error {
			enc, _ := AppendBatch(nil, &Batch{Policies: make([]Policy, n)})
			return DecodeBatch(enc, &Batch{})
		}},
		{"results", MaxOperations, func(n int) error {
			enc, _ := AppendAnswer(nil, &Answer{Results: make([]Result, n)})
			return DecodeAnswer(enc, &Answer{})
		}},
		{"header lines", 1024, func(n int) error {
			enc, _ := AppendResponse(nil, &Response{Headers: make([]HeaderLine, n)})
			return DecodeResponse(enc, &Response{})
		}},
	} {
		if err := tt.do(tt.size); err != nil {
			t.Errorf("%d %s: %v", tt.size, tt.name, err)
		}
		if err := tt.do(tt.size + 1); !errors.Is(err, ErrLimit) {
			t.Errorf("%d %s: %v, want %v", tt.size+1, tt.name, err, ErrLimit)
		}
	}
}
