package host

// decoder is the request's way: client, filter, Later, router.
type decoder Stream

func (d *decoder) filterHeaders(end bool) headersStatus {
	x := d.f
	x.create()
	x.reqHeaders, x.end = &d.reqHeaders, end
	st := x.headers("proxy_on_request_headers", len(d.reqHeaders), end)
	if st == headersContinue {
		x.reqHeaders = nil
	}
	return st
}

func (d *decoder) filterData(b *buffer, end bool) dataStatus {
	x := d.f
	if !x.created {
		return dataContinue
	}
	if x.bufferingReq {
		d.dec.addData(b)
		if x.deleted {
			return dataStopAndBuffer
		}
	}
	x.reqBody, x.end, x.staleReq = b, end, false
	v, _ := x.buffer(requestBody)
	st := x.body("proxy_on_request_body", len(v.b), end)
	x.bufferingReq = st == dataStopAndBuffer
	x.staleReq = st == dataStopAndWatermark || st == dataStopNoBuffer
	if st == dataContinue {
		x.reqBody = nil
	}
	return st
}

func (d *decoder) filterTrailers() trailersStatus {
	x := d.f
	if !x.created {
		return trailersContinue
	}
	x.reqTrailers = d.dec.trailers
	st := x.trailers("proxy_on_request_trailers", len(*x.reqTrailers))
	if st == trailersContinue {
		x.reqTrailers = nil
	}
	return st
}

func (d *decoder) nextHeaders(end bool) {
	s := (*Stream)(d)
	if later := s.h.o.Later; later != nil {
		if r := later(s.reqHeaders); r != nil {
			s.answer(r)
			return
		}
	}
	s.router = &router{h: s.h, owner: s, route: &s.h.o.Route}
	s.router.headers(&s.reqHeaders, end)
}

func (d *decoder) nextData(b []byte, end bool) {
	if d.router != nil {
		d.router.data(b, end)
	}
}

func (d *decoder) nextTrailers() {
	if d.router != nil {
		d.router.trailers(*d.dec.trailers)
	}
}

func (d *decoder) closed() bool { return d.over || d.dec.aborted }

// tooLarge refuses a request that the filter buffers beyond the limit. The
// filter's callback that is running, or about to, still happens.
func (d *decoder) tooLarge() {
	(*Stream)(d).localReply(localReply{status: 413, body: "Payload Too Large", details: "request_payload_too_large", grpc: -1})
}

func (d *decoder) holdSource() { d.unread++ }

func (d *decoder) releaseSource() {
	d.unread--
	d.h.event((*Stream)(d).readInbox)
}
