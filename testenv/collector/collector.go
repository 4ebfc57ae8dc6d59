// Package collector is an OpenTelemetry collector that keeps what it is sent, so
// that tests see the spans as a real one would: over OTLP, by gRPC or HTTP.
package collector

import (
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	trace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Span is one span as it arrived. IDs are hexadecimal.
type Span struct {
	Name                      string
	TraceID, SpanID, ParentID string
	Start, End                time.Time
	Attributes                map[string]string // of strings and whole numbers
	Resource                  map[string]string
	Links                     []Link
	Failed                    bool // its status is an error
}

// Link is a span's link.
type Link struct{ TraceID, SpanID string }

// Collector keeps spans. It is safe for concurrent use.
type Collector struct {
	// Endpoint is where it listens, http://127.0.0.1:port.
	Endpoint string

	trace.UnimplementedTraceServiceServer
	stop func()

	mu      sync.Mutex
	away    bool
	spans   []Span
	headers map[string][]string // of the last export, names in lower case
}

// GRPC starts a collector that speaks OTLP over gRPC on a free loopback port.
func GRPC() (*Collector, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	c := &Collector{Endpoint: "http://" + l.Addr().String(), stop: server.Stop}
	trace.RegisterTraceServiceServer(server, c)
	go server.Serve(l)
	return c, nil
}

// HTTP starts a collector that speaks OTLP over HTTP with protobuf.
func HTTP() (*Collector, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Collector{Endpoint: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", c.serveHTTP)
	server := &http.Server{Handler: mux}
	c.stop = func() { server.Close() }
	go server.Serve(l)
	return c, nil
}

// Close ends the collector.
func (c *Collector) Close() { c.stop() }

// Away makes the collector refuse what it is sent, with an error after which a
// client does not try again.
func (c *Collector) Away(away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
}

// Spans returns what has arrived.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Header returns the lines of a header of the last export; name in lower case.
func (c *Collector) Header(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers[name]
}

// Export takes spans by gRPC.
func (c *Collector) Export(ctx context.Context, r *trace.ExportTraceServiceRequest) (*trace.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if !c.take(r, md) {
		return nil, status.Error(codes.PermissionDenied, "away")
	}
	return &trace.ExportTraceServiceResponse{}, nil
}

func (c *Collector) serveHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request trace.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	headers := metadata.MD{} // whose names are in lower case
	for name, lines := range r.Header {
		headers.Append(name, lines...)
	}
	if !c.take(&request, headers) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	answer, _ := proto.Marshal(&trace.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.Write(answer)
}

func (c *Collector) take(r *trace.ExportTraceServiceRequest, headers map[string][]string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = headers
	if c.away {
		return false
	}
	for _, of := range r.ResourceSpans {
		resource := attributes(of.Resource.GetAttributes())
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				span := Span{
					Name: s.Name, TraceID: hex.EncodeToString(s.TraceId), SpanID: hex.EncodeToString(s.SpanId),
					ParentID: hex.EncodeToString(s.ParentSpanId), Attributes: attributes(s.Attributes), Resource: resource,
					Start: time.Unix(0, int64(s.StartTimeUnixNano)), End: time.Unix(0, int64(s.EndTimeUnixNano)),
					Failed: s.Status.GetCode() == 2,
				}
				for _, l := range s.Links {
					span.Links = append(span.Links, Link{hex.EncodeToString(l.TraceId), hex.EncodeToString(l.SpanId)})
				}
				c.spans = append(c.spans, span)
			}
		}
	}
	return true
}

func attributes(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.Key] = strconv.FormatInt(v.IntValue, 10)
		}
	}
	return out
}
