package host

import "errors"

// iteration is where a path stands at the filter.
type iteration int

const (
	iterating        iteration = iota
	stopped                    // the filter still gets body and trailers
	stoppedBuffer              // it gets nothing; what comes is buffered up to the limit
	stoppedWatermark           // it gets nothing; what comes is buffered, then held back
)

// errNotPaused is what Envoy asserts of continueDecoding and continueEncoding.
var errNotPaused = errors.New("continue of a stream that is not paused: Envoy asserts that it is")

// side is one direction of a stream: what the filter is called with, what comes
// behind it, and where the bytes come from.
type side interface {
	filterHeaders(end bool) headersStatus
	filterData(b *buffer, end bool) dataStatus
	filterTrailers() trailersStatus
	nextHeaders(end bool)
	nextData(b []byte, end bool)
	nextTrailers()
	// closed says that nothing more may go this way.
	closed() bool
	// tooLarge is called when a buffer without back-pressure exceeds its limit.
	tooLarge()
	holdSource()
	releaseSource()
}

// path is Envoy's filter manager for one direction and this one filter.
type path struct {
	side
	s *Stream

	iter        iteration
	headersSent bool // the headers have gone on
	fromFilter  bool // what was buffered starts with the filter, not behind it
	filterEnd   bool // the filter has seen the end
	ended       bool // the end has arrived
	aborted     bool // a local reply replaces what would come
	running     int  // callbacks of the filter that have not returned
	trailers    *Headers

	// buf is what is held for the filter. streaming says that exceeding the limit
	// holds the source back rather than ends the stream.
	buf       *buffer
	streaming bool
}

func (p *path) headers(end bool) {
	p.ended = p.ended || end
	if p.s.f == nil {
		p.headersSent = true
		p.nextHeaders(end)
		return
	}
	p.running++
	st := p.filterHeaders(end)
	p.running--
	if p.cut() {
		return
	}
	switch st {
	case headersStop:
		p.iter = stopped
	case headersStopAllBuffer:
		p.iter = stoppedBuffer
	case headersStopAllWatermark:
		p.iter = stoppedWatermark
	default:
		p.headersSent = true
		p.nextHeaders(end)
	}
}

// data takes a chunk, or what was buffered once more.
func (p *path) data(b *buffer, end bool) {
	p.ended = p.ended || end
	if p.s.f == nil {
		p.nextData(b.take(), end)
		return
	}
	if p.iter >= stoppedBuffer {
		p.streaming = p.iter == stoppedWatermark
		p.hold(b)
		return
	}
	if p.filterEnd {
		return
	}
	had := p.trailers != nil
	p.filterEnd = end && !had
	p.running++
	st := p.filterData(b, p.filterEnd)
	p.running--
	if p.cut() {
		return
	}
	added := !had && p.trailers != nil
	if !p.afterData(st, b) {
		return
	}
	p.nextData(b.take(), end && p.trailers == nil)
	if added && !p.closed() {
		p.nextTrailers()
	}
}

// afterData follows the filter's status; true means that the chunk goes on.
func (p *path) afterData(st dataStatus, b *buffer) bool {
	if st == dataContinue {
		if p.iter == stopped {
			p.hold(b)
			p.proceed()
			return false
		}
		return true
	}
	p.iter = stopped
	switch st {
	case dataStopAndBuffer, dataStopAndWatermark:
		p.streaming = st == dataStopAndWatermark
		p.hold(b)
	default:
		// An empty buffer makes a later continue pass on the end.
		if p.ended && p.trailers == nil && p.buf == nil {
			p.buf = p.newBuffer()
		}
	}
	return false
}

func (p *path) trailersArrived(t Headers) {
	p.ended = true
	p.trailers = &t
	if p.s.f == nil {
		p.nextTrailers()
		return
	}
	p.runTrailers()
}

func (p *path) runTrailers() {
	if p.iter >= stoppedBuffer {
		return
	}
	p.running++
	st := p.filterTrailers()
	p.running--
	if p.cut() {
		return
	}
	p.filterEnd = true
	switch {
	case st == trailersContinue && p.iter == stopped:
		p.proceed()
	case st == trailersContinue:
		p.nextTrailers()
	case p.iter == iterating:
		p.iter = stopped
	}
}

// proceed is continueDecoding or continueEncoding.
func (p *path) proceed() {
	if p.closed() || p.aborted {
		return
	}
	if p.iter == iterating {
		if !p.s.h.o.Lenient {
			p.s.h.blame(p.s.f.vm, errNotPaused)
		}
		return
	}
	if p.iter >= stoppedBuffer {
		p.fromFilter = true
	}
	p.iter = iterating
	if !p.headersSent {
		p.headersSent = true
		p.nextHeaders(p.ended && p.buf == nil && p.trailers == nil)
	}
	if p.buf != nil && !p.closed() && !p.aborted {
		end := p.ended && p.trailers == nil
		if p.fromFilter {
			p.data(p.buf, end)
		} else {
			p.nextData(p.buf.take(), end)
		}
	}
	if p.trailers != nil && !p.closed() && !p.aborted {
		if p.fromFilter {
			p.runTrailers()
		} else {
			p.nextTrailers()
		}
	}
	p.fromFilter = false
}

// hold moves a chunk into the buffer, unless it is the buffer itself.
func (p *path) hold(b *buffer) {
	if b == p.buf {
		return
	}
	if p.buf == nil {
		p.buf = p.newBuffer()
	}
	p.buf.add(b.take())
}

// addData is addDecodedData or addEncodedData without streaming: the filter
// itself holds the chunk before it is asked again.
func (p *path) addData(b *buffer) {
	p.streaming = false
	p.hold(b)
}

// addTrailers lets the filter add trailers at the end of the body.
func (p *path) addTrailers() *Headers {
	if p.trailers == nil {
		p.trailers = &Headers{}
	}
	return p.trailers
}

func (p *path) newBuffer() *buffer {
	return &buffer{
		limit: p.s.limit(),
		onHigh: func() {
			if p.streaming {
				p.holdSource()
			} else {
				p.tooLarge()
			}
		},
		onLow: func() { p.releaseSource() },
	}
}

// cut says, after a callback, that the stream has ended in it or is being
// answered by a local reply, which is sent now.
func (p *path) cut() bool {
	if p.aborted {
		p.s.sendPrepared()
		return true
	}
	return p.s.over
}
