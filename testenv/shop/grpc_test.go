package shop

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestGRPC(t *testing.T) {
	s := serve(t, true, AllGuards)
	request := string(message(appendString(nil, 1, "item-7")))
	call := func(headers ...string) (*answer, error) {
		return s.try("POST", "/shop.Shop/Order", request,
			append(headers, "Content-Type", "application/grpc", "Te", "trailers", "Idempotency-Key", "g")...)
	}
	for _, c := range []struct {
		headers []string
		code    string
		effect  string
	}{
		{[]string{"Idempotency-Fence", "300"}, "0", effectDone},
		{[]string{"Idempotency-Fence", "300"}, "0", effectAlready},
		{[]string{"Idempotency-Fence", "299"}, "10", ""},
		{[]string{"X-Shop-Status", "503"}, "2", ""},
		{[]string{"X-Shop-Trailer", "grpc-status: 14"}, "14", effectAlready},
	} {
		a, err := call(c.headers...)
		if err != nil || a.bodyErr != nil {
			t.Fatalf("%v: %v, %+v", c.headers, err, a)
		}
		if a.StatusCode != 200 || a.Trailer.Get("Grpc-Status") != c.code || a.Header.Get("Content-Type") != "application/grpc" {
			t.Errorf("%v: %d, trailer %q", c.headers, a.StatusCode, a.Trailer)
		}
		if c.effect == "" {
			if len(a.body) != 0 {
				t.Errorf("%v: a failure with a message", c.headers)
			}
			continue
		}
		if len(a.body) < 5 || int(binary.BigEndian.Uint32(a.body[1:])) != len(a.body)-5 {
			t.Fatalf("%v: frame %x", c.headers, a.body)
		}
		if !bytes.Contains(a.body, appendString(nil, 1, a.Header.Get("X-Shop-Execution"))) || !bytes.HasSuffix(a.body, appendString(nil, 3, c.effect)) {
			t.Errorf("%v: message %q", c.headers, a.body)
		}
	}
	if a, err := call("X-Shop-Fault", "half"); err != nil || a.bodyErr == nil {
		t.Errorf("half: %v, %+v", err, a)
	}
	if x := s.executions("key=g"); x.Count != 6 || x.Effects != 1 {
		t.Errorf("count %d, effects %d", x.Count, x.Effects)
	}
}
