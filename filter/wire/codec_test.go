package wire

import (
	"bytes"
	"testing"
)

func TestRoundTripLarge(t *testing.T) {
	body := bytes.Repeat([]byte{7}, 1<<20)
	enc, err := AppendResponse(nil, &Response{Status: 201, Headers: []HeaderLine{{"a", "b"}}, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	var r Response
	if err := DecodeResponse(enc, &r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Body, body) || r.Headers[0].Value != "b" {
		t.Fatal("round trip lost something")
	}
}
