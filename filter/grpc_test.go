package filter

import (
	"encoding/base64"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/oncewall/oncewall/filter/wire"
)

// TestGRPCRefusals: what a problem document says is in the details that gRPC
// libraries read.
func TestGRPCRefusals(t *testing.T) {
	for _, c := range []struct {
		p     *problem
		x     extra
		meta  map[string]string
		retry *durationpb.Duration
	}{
		{problemNotKept, extra{status: 201, retryAfterMS: 1000}, map[string]string{"http_status": "409", "original_status": "201"}, nil},
		{problemInFlight, extra{retryAfterMS: 1500}, map[string]string{"http_status": "409"}, &durationpb.Duration{Seconds: 2}},
		{problemKeyReused, extra{parts: []byte{byte(wire.PartMethod), byte(wire.PartBody)}}, map[string]string{"http_status": "422", "parts": "method,body"}, nil},
		{problemKeyInvalid, extra{reason: "The key is empty."}, map[string]string{"http_status": "400"}, nil},
	} {
		r := (&Stream{grpc: true}).problemReply(c.p, c.x)
		var st spb.Status
		for _, h := range r.Headers {
			if h[0] == "grpc-status-details-bin" {
				b, err := base64.RawStdEncoding.DecodeString(h[1])
				if err != nil {
					t.Fatal(err)
				}
				if err := proto.Unmarshal(b, &st); err != nil {
					t.Fatal(err)
				}
			}
		}
		if st.Code != r.GRPC || st.Message != string(r.Body) || !strings.HasPrefix(st.Message, c.p.title) || !strings.HasSuffix(st.Message, c.x.reason) {
			t.Errorf("%s: code %d, message %q; the reply has %d and %q", c.p.code, st.Code, st.Message, r.GRPC, r.Body)
		}
		want := []proto.Message{&errdetails.ErrorInfo{Reason: strings.ToUpper(strings.ReplaceAll(string(c.p.code), "-", "_")), Domain: "oncewall", Metadata: c.meta}}
		if c.retry != nil {
			want = append(want, &errdetails.RetryInfo{RetryDelay: c.retry})
		}
		want = append(want, &errdetails.Help{Links: []*errdetails.Help_Link{{Description: string(c.p.code), Url: problemBase + string(c.p.code) + ".md"}}})
		if len(st.Details) != len(want) {
			t.Fatalf("%s: %d details, want %d", c.p.code, len(st.Details), len(want))
		}
		for i, d := range st.Details {
			got, err := d.UnmarshalNew()
			if err != nil || !proto.Equal(got, want[i]) {
				t.Errorf("%s: detail %d is %v (%v), want %v", c.p.code, i, got, err, want[i])
			}
		}
	}
	if r := (&Stream{}).problemReply(problemNotKept, extra{}); !strings.HasPrefix(string(r.Body), "{") || len(r.Headers) > 4 {
		t.Error("a request that is not gRPC gets what only gRPC reads")
	}
}

func TestIsGRPC(t *testing.T) {
	for contentType, want := range map[string]bool{
		"application/grpc": true, "Application/gRPC": true, "application/grpc+proto": true, "application/grpc;charset=utf-8": true, "application/grpc ; a=b": true,
		"application/grpc-web": false, "application/grpc-web+proto": false, "application/grpc-web-text": false, "application/grpcx": false,
		"application/grp": false, "": false, "text/application/grpc": false,
	} {
		if got := isGRPC(contentType); got != want {
			t.Errorf("%q: %t", contentType, got)
		}
	}
}
