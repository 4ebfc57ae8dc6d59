//go:build wasip1

package main

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

func sp(s string) ptr { return ptr(unsafe.StringData(s)) }
func sn(s string) uint32 {
	return uint32(len(s))
}

func logText(level uint32, s string) uint32 { return proxyLog(level, sp(s), sn(s)) }

// out collects address and size of what the host gives.
type out struct{ at, n uint32 }

func (o *out) text() string {
	b := held[o.at]
	delete(held, o.at)
	return string(b[:min(int(o.n), len(b))])
}

func header(m uint32, name string) (string, uint32) {
	var o out
	st := proxyGetHeader(m, sp(name), sn(name), ptr(&o.at), ptr(&o.n))
	return o.text(), st
}

func buffer(b, start, length uint32) (string, uint32) {
	var o out
	st := proxyGetBuffer(b, start, length, ptr(&o.at), ptr(&o.n))
	return o.text(), st
}

// pairs encodes "name=value" texts.
func pairs(kv []string) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(kv)))
	var text []byte
	for _, p := range kv {
		k, v, _ := strings.Cut(p, "=")
		k, v = unescape(k), unescape(v)
		b = binary.LittleEndian.AppendUint32(b, sn(k))
		b = binary.LittleEndian.AppendUint32(b, sn(v))
		text = append(append(append(append(text, k...), 0), v...), 0)
	}
	return string(append(b, text...))
}

// unescape turns %XX into a byte, so that scripts may have any.
func unescape(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// do runs one operation:
//
//	0..9                          what the callback returns
//	get:map:name  add|rep:map:name:value  del:map:name  pairs:map  size:map
//	setpairs:map:name=value:...   manyhdrs:n  (a reply with n header pairs)
//	buf:buffer:start:length  bufst:buffer  setbuf:buffer:start:length:text
//	cont:type  close:type  reply:status:details:body[:name=value...]  grpc:n:status:body
//	bigreply:status:bytes
//	call:cluster:path:timeout[:name=value...]   post:cluster:path:timeout:body
//	rawcall:cluster:timeout:name=value:...
//	gcall:cluster:message  gstream:cluster  gsend:token:message:end  gclose:token  gcancel:token
//	eff:id (0: this stream)  done  tick:ms  status  prop:path (parts by |)  setprop:name:value
//	shget:key  shset:key:value:cas ("last": that of shget)
//	qreg:name  qres:vm:name  qpush:token:text  qpop:token ("last": the latest token)
//	def:type:name  inc:name:n  rec:name:n  val:name
//	ff:name:argument  time  level  log:level:text  panic  badptr
func do(ctx uint32, s *stream, op string) (uint32, bool) {
	a := strings.Split(op, ":")
	for i := range a {
		a[i] = unescape(a[i])
	}
	if n, err := strconv.Atoi(a[0]); err == nil {
		return uint32(n), true
	}
	for len(a) < 6 {
		a = append(a, "")
	}
	raw := strings.Split(op, ":")
	st, got := run(ctx, s, a, raw)
	if tracing {
		logText(2, fmt.Sprintf("T   %s = %d %q", op, st, got))
	}
	return 0, false
}

func num(s string) uint32 {
	if s == "last" {
		return lastToken
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return uint32(n)
}

func run(ctx uint32, s *stream, a, raw []string) (st uint32, got string) {
	var o out
	var n uint32
	switch a[0] {
	case "get":
		got, st = header(num(a[1]), a[2])
	case "add":
		st = proxyAddHeader(num(a[1]), sp(a[2]), sn(a[2]), sp(a[3]), sn(a[3]))
	case "rep":
		st = proxyReplaceHeader(num(a[1]), sp(a[2]), sn(a[2]), sp(a[3]), sn(a[3]))
	case "del":
		st = proxyRemoveHeader(num(a[1]), sp(a[2]), sn(a[2]))
	case "pairs":
		st = proxyGetPairs(num(a[1]), ptr(&o.at), ptr(&o.n))
		got = o.text()
	case "size":
		st = proxyGetHeadersSize(num(a[1]), ptr(&n))
		got = strconv.Itoa(int(n))
	case "setpairs":
		p := pairs(raw[2:])
		st = proxySetPairs(num(a[1]), sp(p), sn(p))
	case "buf":
		got, st = buffer(num(a[1]), num(a[2]), num(a[3]))
	case "bufst":
		var flags uint32
		st = proxyGetBufferStatus(num(a[1]), ptr(&n), ptr(&flags))
		got = strconv.Itoa(int(n))
	case "setbuf":
		st = proxySetBuffer(num(a[1]), num(a[2]), num(a[3]), sp(a[4]), sn(a[4]))
	case "cont":
		st = proxyContinue(num(a[1]))
	case "close":
		st = proxyClose(num(a[1]))
	case "eff":
		id := num(a[1])
		if id == 0 {
			id = ctx
		}
		st = proxyEffective(id)
	case "done":
		st = proxyDone()
	case "tick":
		st = proxySetTick(num(a[1]))
	case "status":
		st = proxyGetStatus(ptr(&n), ptr(&o.at), ptr(&o.n))
		got = fmt.Sprint(n, " ", o.text())
	case "prop":
		path := strings.ReplaceAll(a[1], "|", "\x00")
		st = proxyGetProperty(sp(path), sn(path), ptr(&o.at), ptr(&o.n))
		got = o.text()
	case "setprop":
		st = proxySetProperty(sp(a[1]), sn(a[1]), sp(a[2]), sn(a[2]))
	case "time":
		var ns uint64
		st = proxyGetCurrentTime(ptr(&ns))
	case "level":
		st = proxyGetLogLevel(ptr(&n))
	case "log":
		st = logText(num(a[1]), a[2])
	case "panic":
		panic("probe")
	case "badptr":
		st = proxyLog(2, unsafe.Add(ptr(nil), 0xfffffff0), 64)
	case "ff":
		st = proxyForeign(sp(a[1]), sn(a[1]), sp(a[2]), sn(a[2]), ptr(&o.at), ptr(&o.n))
		got = o.text()
	default:
		return runMore(ctx, s, a, raw)
	}
	return st, got
}
