package shop

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Bounds of the knobs. A value beyond its bound is answered 400.
const (
	maxDelay       = 10 * time.Minute
	maxBodyBytes   = 64 << 20
	maxHeaderBytes = 1 << 20
	maxHeaderCount = 10_000
	maxEvents      = 100_000
)

// fault is what goes wrong with an answer, and when.
type fault string

const (
	noFault     fault = ""
	closeBefore fault = "close-before" // connection closed, not counted
	closeAfter  fault = "close-after"  // effect applied, connection closed unanswered
	half        fault = "half"         // headers and half of the body, then the stream is cut
	rst         fault = "rst"          // effect applied, HTTP/2 RST_STREAM, or a TCP reset on HTTP/1
	refused     fault = "refused"      // HTTP/2 REFUSED_STREAM, not counted; close-before on HTTP/1
)

// line is one header or trailer line.
type line struct{ name, value string }

// knobs is what a request asks the shop to do, from its x-shop-* headers.
type knobs struct {
	delay       time.Duration
	status      int // 0 means the default
	body        []byte
	hasBody     bool
	bodyBytes   int64 // -1 means not asked for
	chunked     bool
	gzip        bool
	headers     []line
	headerBytes int
	headerCount int
	fault       fault
	early       int
	trailers    []line
	events      int // -1 means not asked for
	interval    time.Duration
	upgrade     bool
}

// parseKnobs reads every x-shop-* header and reports all faults at once. An
// unknown one is a fault too: a misspelt knob must not make a test pass.
func parseKnobs(h http.Header) (knobs, error) {
	k := knobs{bodyBytes: -1, events: -1}
	var faults []error
	for name, values := range h {
		knob, ok := strings.CutPrefix(name, "X-Shop-")
		if !ok {
			continue
		}
		if len(values) > 1 && knob != "Header" && knob != "Trailer" {
			faults = append(faults, fmt.Errorf("%s: %d lines, want 1", strings.ToLower(name), len(values)))
			continue
		}
		for _, v := range values {
			if err := k.set(knob, v); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", strings.ToLower(name), err))
			}
		}
	}
	return k, errors.Join(faults...)
}

func (k *knobs) set(knob, v string) (err error) {
	switch knob {
	case "Tag":
	case "Delay":
		k.delay, err = duration(v)
	case "Status":
		k.status, err = number(v, 200, 999)
	case "Body":
		var s string
		s, err = url.PathUnescape(v)
		k.body, k.hasBody = []byte(s), true
	case "Body-Bytes":
		var n int
		n, err = number(v, 0, maxBodyBytes)
		k.bodyBytes = int64(n)
	case "Chunked":
		k.chunked, err = flag(v)
	case "Encode":
		if k.gzip = v == "gzip"; !k.gzip {
			err = fmt.Errorf("%q is not gzip", v)
		}
	case "Header":
		k.headers, err = appendLine(k.headers, v)
	case "Header-Bytes":
		k.headerBytes, err = number(v, 0, maxHeaderBytes)
	case "Header-Count":
		k.headerCount, err = number(v, 0, maxHeaderCount)
	case "Fault":
		switch k.fault = fault(v); k.fault {
		case closeBefore, closeAfter, half, rst, refused:
		default:
			err = fmt.Errorf("%q is none of close-before, close-after, half, rst, refused", v)
		}
	case "Early":
		if k.early, err = number(v, 100, 199); err == nil && k.early == http.StatusSwitchingProtocols {
			err = errors.New("101 is x-shop-upgrade's")
		}
	case "Trailer":
		k.trailers, err = appendLine(k.trailers, v)
	case "Events":
		n, interval, _ := strings.Cut(v, ",")
		if k.events, err = number(n, 0, maxEvents); err == nil && interval != "" {
			k.interval, err = duration(interval)
		}
	case "Upgrade":
		k.upgrade, err = flag(v)
	default:
		err = errors.New("no such knob")
	}
	return err
}

func number(v string, least, most int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is no number from %d to %d", v, least, most)
	}
	return n, nil
}

func duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(v))
	if err != nil || d < 0 || d > maxDelay {
		return 0, fmt.Errorf("%q is no duration from 0s to %s", v, maxDelay)
	}
	return d, nil
}

func flag(v string) (bool, error) {
	if v != "0" && v != "1" {
		return false, fmt.Errorf("%q is neither 0 nor 1", v)
	}
	return v == "1", nil
}

// appendLine adds a "name: value" line that net/http would send unchanged.
func appendLine(lines []line, v string) ([]line, error) {
	name, value, ok := strings.Cut(v, ":")
	name, value = strings.TrimSpace(name), strings.Trim(value, " \t")
	if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return lines, errors.New("not a valid name: value line")
	}
	return append(lines, line{textproto.CanonicalMIMEHeaderKey(name), value}), nil
}
