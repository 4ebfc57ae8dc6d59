package filter

import "github.com/oncewall/oncewall/filter/wire"

// Action is what a callback returns to the host.
type Action uint8

const (
	// Continue lets the headers or the chunk pass.
	Continue Action = iota
	// Pause holds headers. On a request it lasts until ResumeRequest or Reply, on
	// a response until ResumeResponse or Reply.
	Pause
	// Hold buffers a body chunk with back-pressure (stop iteration and
	// watermark). The chunk that the next callback sees is the next one alone.
	Hold
	// Discard drops a body chunk and keeps the stream paused. It is used only
	// where a reply is certain.
	Discard
)

// Request is what the core reads of a request's headers.
type Request interface {
	// Header returns every line of a header in its order; name is in lower case.
	Header(name string) []string
	// Property returns an Envoy attribute that is a string; false where there is
	// none.
	Property(path ...string) (string, bool)
}

// Response is what the core reads of a response's headers.
type Response interface {
	// Status is the HTTP status; 0 where the host does not tell it.
	Status() int
	// Lines returns every header line but the pseudo headers, in their order.
	Lines() []wire.HeaderLine
	// ViaUpstream reports whether upstream made this response (code details
	// via_upstream); everything else was made by Envoy or another filter.
	ViaUpstream() bool
	// Trail tells how far the request got.
	Trail() Trail
}

// Trail is what Envoy knows of a request's way to upstream. The zero value says that
// nothing was sent.
type Trail struct {
	Attempts int    // upstream.request_attempt_count
	Flags    uint64 // response.flags
	// Refused says that an HTTP/2 upstream refused the stream, which is its word
	// that it has not processed it (RFC 9113, section 8.7).
	Refused bool
	// Overflow says that the connection pool was full (code details with
	// {overflow}). The flag of that name alone also says that no retry was left in
	// the cluster's budget, whatever became of the one try.
	Overflow bool
	// Redirected says that Envoy has ended this stream to continue it elsewhere
	// (code details internal_redirect).
	Redirected bool
}

// The response flags after which a single attempt never reached upstream: no
// healthy upstream, connection failure, overflow, no route, no cluster,
// overload drop, DNS failure.
const (
	flagUH = 0x2
	flagUR = 0x10
	flagUF = 0x20
	flagUO = 0x80
	flagNR = 0x100
	flagNC = 0x1000000
	flagDF = 0x4000000
	flagDO = 0x8000000

	flagsNotSent = flagUH | flagUF | flagNR | flagNC | flagDF | flagDO

	// What may stand beside them: the retry that the single attempt did not get.
	flagURX     = 0x8000
	flagsBeside = flagUO | flagURX

	// The flags of an attempt that was made: timeout, reset, connection closed,
	// protocol error, longest duration.
	flagsSent = 0x4 | flagUR | 0x40 | 0x800000 | 0x80000
)

// NeverForwarded reports whether it is certain that upstream saw nothing of the
// request. Flags describe the last attempt only, so that with more than one
// attempt nothing is certain; nor is it beside a flag that says anything else.
func (t Trail) NeverForwarded() bool {
	switch {
	case t.Attempts == 0:
		return t.Flags&flagsSent == 0
	case t.Attempts > 1:
		return false
	case t.Refused:
		return t.Flags&^(flagUR|flagsBeside) == 0
	}
	return t.Flags&^(flagsNotSent|flagsBeside) == 0 && (t.Flags&flagsNotSent != 0 || t.Overflow && t.Flags&flagUO != 0)
}

// EffectKind is what an effect asks of the adapter.
type EffectKind uint8

// The effects. Those with a Stream are carried out with that stream's context
// made effective. A resumption of the stream whose own event has just been given
// is carried out by answering that event with Continue, whatever it returned: the
// chunk at hand must go with the rest.
const (
	ResumeRequest EffectKind = iota + 1
	ResumeResponse
	Reply
	SetRequestHeader    // Name, Value
	RemoveRequestHeader // Name
	SetResponseHeader
	RemoveResponseHeader
	RemoveResponseTrailer
	Call    // send Batch to the bridge
	Count   // add N to Metric
	SetTick // ask for ticks every TickMS; 0 ends them
	Decide  // tell Decision to logs and metrics
	Measure // add N to the distribution of callout times, in milliseconds
	// SetResponseHeaders replaces every header line of the response by those of
	// Reply, and :status by its Status.
	SetResponseHeaders
	// HandOn keeps Value where only the stream finds it that Envoy makes of this
	// one for an internal redirect.
	HandOn
)

// Effect is one thing for the adapter to do. Effects of one event are carried
// out in their order.
type Effect struct {
	Kind        EffectKind
	Metric      Metric
	N           uint32
	TickMS      uint32
	Stream      *Stream
	Name, Value string
	Reply       *LocalReply
	Decision    Decision
	Call        CallEffect
}

// CallEffect is a callout to the bridge: POST to wire.BatchPath of bridge.cluster,
// or, with Wait, to wire.WaitPath of bridge.wait_cluster. Body stays valid until the
// call is answered or has failed.
type CallEffect struct {
	ID        uint32
	TimeoutMS uint32
	Wait      bool
	Body      []byte
}

// LocalReply is an answer made here.
type LocalReply struct {
	Status  uint32
	Details string // response code details, "oncewall_" and the code
	Headers [][2]string
	Body    []byte
	// GRPC is the grpc-status that a gRPC request gets, since Envoy answers it by
	// trailers alone; -1: Envoy's mapping of Status.
	GRPC int32
}
