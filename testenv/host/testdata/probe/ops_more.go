//go:build wasip1

package main

import (
	"strconv"
	"strings"
)

// runMore has the operations that send something.
func runMore(ctx uint32, s *stream, a, raw []string) (st uint32, got string) {
	var o out
	var n uint32
	switch a[0] {
	case "reply":
		h := ""
		if len(raw) > 4 {
			h = pairs(raw[4:])
		}
		st = proxyReply(num(a[1]), sp(a[2]), sn(a[2]), sp(a[3]), sn(a[3]), sp(h), sn(h), -1)
	case "grpc":
		st = proxyReply(num(a[2]), nil, 0, sp(a[3]), sn(a[3]), nil, 0, int32(num(a[1])))
	case "manyhdrs":
		var kv []string
		for i := range int(num(a[1])) {
			kv = append(kv, "x-"+strconv.Itoa(i)+"=v")
		}
		h := pairs(kv)
		st = proxyReply(200, nil, 0, sp("many"), 4, sp(h), sn(h), -1)
	case "bigreply":
		body := strings.Repeat("b", int(num(a[2])))
		st = proxyReply(num(a[1]), nil, 0, sp(body), sn(body), nil, 0, -1)
	case "call":
		st = httpCall(ctx, s, a[1], append([]string{":method=GET", ":authority=probe", ":path=" + raw[2]}, raw[4:]...), "", num(a[3]))
	case "post":
		st = httpCall(ctx, s, a[1], []string{":method=POST", ":authority=probe", ":path=" + raw[2]}, a[4], num(a[3]))
	case "rawcall":
		st = httpCall(ctx, s, a[1], raw[3:], "", num(a[2]))
	case "gcall":
		st = proxyGRPCCall(sp(a[1]), sn(a[1]), sp("svc"), 3, sp("Method"), 6, nil, 0, sp(a[2]), sn(a[2]), 1000, ptr(&n))
		lastToken = n
	case "gstream":
		st = proxyGRPCStream(sp(a[1]), sn(a[1]), sp("svc"), 3, sp("Method"), 6, nil, 0, ptr(&n))
		lastToken = n
	case "gsend":
		st = proxyGRPCSend(num(a[1]), sp(a[2]), sn(a[2]), num(a[3]))
	case "gclose":
		st = proxyGRPCClose(num(a[1]))
	case "gcancel":
		st = proxyGRPCCancel(num(a[1]))
	case "shget":
		st = proxyGetShared(sp(a[1]), sn(a[1]), ptr(&o.at), ptr(&o.n), ptr(&lastCas))
		got = o.text()
	case "shset":
		cas := num(a[3])
		if a[3] == "last" {
			cas = lastCas
		}
		st = proxySetShared(sp(a[1]), sn(a[1]), sp(a[2]), sn(a[2]), cas)
	case "qreg":
		st = proxyRegisterQueue(sp(a[1]), sn(a[1]), ptr(&lastToken))
	case "qres":
		st = proxyResolveQueue(sp(a[1]), sn(a[1]), sp(a[2]), sn(a[2]), ptr(&lastToken))
	case "qpush":
		st = proxyEnqueue(num(a[1]), sp(a[2]), sn(a[2]))
	case "qpop":
		st = proxyDequeue(num(a[1]), ptr(&o.at), ptr(&o.n))
		got = o.text()
	case "def":
		st = proxyDefineMetric(num(a[1]), sp(a[2]), sn(a[2]), ptr(&n))
		metrics[a[2]] = n
	case "inc":
		v, _ := strconv.ParseInt(a[2], 10, 64)
		st = proxyIncrement(metrics[a[1]], v)
	case "rec":
		v, _ := strconv.ParseUint(a[2], 10, 64)
		st = proxyRecord(metrics[a[1]], v)
	case "val":
		var v uint64
		st = proxyGetMetric(metrics[a[1]], ptr(&v))
		got = strconv.FormatUint(v, 10)
	default:
		panic("no such operation: " + a[0])
	}
	return st, got
}

func httpCall(ctx uint32, s *stream, cluster string, headers []string, body string, timeout uint32) uint32 {
	var token uint32
	h := pairs(headers)
	st := proxyCall(sp(cluster), sn(cluster), sp(h), sn(h), sp(body), sn(body), nil, 0, timeout, ptr(&token))
	if st == 0 {
		owners[token] = call{ctx, s.script}
		lastToken = token
	}
	return st
}
