package filter

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// fingerprintRig has one rule, /f, with the fingerprint given.
func fingerprintRig(t failer, fingerprint string) *rig {
	cfg, err := rules.Parse(fmt.Appendf(nil, `{
 "namespace": "edge", "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "rules": [{"name": "f", "match": {"path": {"prefix": "/f"}}, "principal": {"header": "x-user-id", "trusted": true},
  "fingerprint": %s, "upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"}]}`, fingerprint))
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

func hline(name, value string) wire.HeaderLine { return wire.HeaderLine{Name: name, Value: value} }

// claimed sends a request in chunks, the last of which ends it, and returns the
// fingerprint that it claims with; nil: it was answered.
func (g *rig) claimed(chunks []string, lines ...wire.HeaderLine) (fp []byte, compared Compared, reply *LocalReply) {
	s := g.open("POST", "/f?a=1", "k", len(chunks) == 0, lines...)
	for i, c := range chunks {
		if len(s.replies) == 0 {
			g.body(s, c, i == len(chunks)-1)
		}
	}
	if len(s.replies) > 0 {
		return nil, 0, s.replies[0]
	}
	fp, compared = s.core.fingerprint, s.core.content.compared
	g.settleDown()
	g.finish(s, Trail{})
	return fp, compared, nil
}

func (g *rig) claims(chunks []string, lines ...wire.HeaderLine) ([]byte, Compared) {
	g.t.Helper()
	fp, compared, reply := g.claimed(chunks, lines...)
	if reply != nil {
		g.t.Fatalf("answered: %s", reply.Body)
	}
	return fp, compared
}

func gzipped(s string, level int) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, level)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func TestBodyKinds(t *testing.T) {
	form := hline("content-type", "application/x-www-form-urlencoded")
	parts := hline("content-type", "multipart/form-data; boundary=x")
	part := "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"
	zipped := hline("content-encoding", "gzip")
	grpc := hline("content-type", "application/grpc")
	for _, c := range []struct {
		name, rule, body string
		lines            []wire.HeaderLine
		want             Compared
	}{
		{"JSON", `{}`, `{"a":1}`, nil, ComparedJSON},
		{"JSON that is none", `{}`, `{"a":1`, nil, ComparedRaw},
		{"JSON, empty", `{}`, "", nil, ComparedRaw},
		{"JSON, compressed", `{}`, gzipped(`{"a":1}`, 9), []wire.HeaderLine{zipped}, ComparedJSON},
		{"JSON, said to be compressed", `{}`, `{"a":1}`, []wire.HeaderLine{zipped}, ComparedEncoded},
		{"JSON, compressed in an unknown way", `{}`, `{"a":1}`, []wire.HeaderLine{hline("content-encoding", "br")}, ComparedEncoded},
		{"JSON, compressed, more than allowed", `{"max_decoded_body": "6B"}`, gzipped(`{"a":1}`, 9), []wire.HeaderLine{zipped}, ComparedEncoded},
		{"JSON, compressed twice", `{}`, gzipped(`{}`, 9), []wire.HeaderLine{zipped, zipped}, ComparedEncoded},
		{"JSON, gRPC", `{}`, "\x00\x00\x00\x00\x02{}", []wire.HeaderLine{grpc}, ComparedRaw},
		{"form", `{"body": "form"}`, "a=1", []wire.HeaderLine{form}, ComparedForm},
		{"form, gRPC", `{"body": "form"}`, "a=1", []wire.HeaderLine{grpc}, ComparedRaw},
		{"form, no type", `{"body": "form"}`, "a=1", nil, ComparedRaw},
		{"form, two types", `{"body": "form"}`, "a=1", []wire.HeaderLine{form, form}, ComparedRaw},
		{"form that is none", `{"body": "form"}`, "a=%", []wire.HeaderLine{form}, ComparedRaw},
		{"multipart", `{"body": "multipart"}`, part, []wire.HeaderLine{parts}, ComparedMultipart},
		{"multipart that is none", `{"body": "multipart"}`, part[1:], []wire.HeaderLine{parts}, ComparedRaw},
		{"multipart, compressed", `{"body": "multipart"}`, gzipped(part, 1), []wire.HeaderLine{parts, zipped}, ComparedMultipart},
		{"raw", `{"body": "raw"}`, `{}`, nil, ComparedRaw},
		{"none", `{"body": "none"}`, `{}`, nil, NotCompared},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := fingerprintRig(t, c.rule)
			fp, got := g.claims([]string{c.body}, c.lines...)
			if got != c.want {
				t.Errorf("compared as %v, want %v", got, c.want)
			}
			if !wire.ValidFingerprint(fp) {
				t.Errorf("%x", fp)
			}
		})
	}
}

// The parts' algorithms are kept in records: they must not change by themselves.
func TestAlgorithmsAreStable(t *testing.T) {
	g := fingerprintRig(t, `{"headers": ["x-a"]}`)
	fp, _ := g.claims([]string{"{}"})
	var got []wire.Algorithm
	for p := range wire.Parts(fp) {
		got = append(got, p.Algorithm)
	}
	if want := []wire.Algorithm{1, 1, 0x63e3, 0x40d1}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

// A change of the configuration that changes how a body's digest is made must
// change its algorithm too; one that changes nothing for it must not.
func TestAlgorithmFollowsTheConfiguration(t *testing.T) {
	tagOf := func(rule string, id wire.PartID) wire.Algorithm {
		fp, _ := fingerprintRig(t, rule).claims([]string{"{}"})
		for p := range wire.Parts(fp) {
			if p.ID == id {
				return p.Algorithm
			}
		}
		t.Fatalf("%s: no %v", rule, id)
		return 0
	}
	seen := map[wire.Algorithm]string{}
	for _, rule := range []string{
		`{}`, `{"body": "raw"}`, `{"body": "form"}`, `{"body": "multipart"}`, `{"ignore": ["/a"]}`, `{"ignore": ["/a", "/b"]}`,
		`{"max_decoded_body": "2MiB"}`, `{"over": "prefix"}`, `{"over": "content_digest"}`, `{"over": "prefix", "max_body": "1KiB"}`,
	} {
		tag := tagOf(rule, wire.PartBody)
		if other, ok := seen[tag]; ok {
			t.Errorf("%s has the algorithm of %s", rule, other)
		}
		seen[tag] = rule
	}
	for _, rule := range []string{`{"max_body": "1KiB"}`, `{"over": "reject"}`, `{"headers": ["x-a"]}`, `{"ignore": []}`} {
		if tagOf(rule, wire.PartBody) != tagOf(`{}`, wire.PartBody) {
			t.Errorf("%s: a body is compared as before, and its algorithm changed", rule)
		}
	}
	if tagOf(`{"ignore": ["/a", "/b"]}`, wire.PartBody) != tagOf(`{"ignore": ["/b", "/a"]}`, wire.PartBody) {
		t.Error("the order of what is ignored counts")
	}
	if tagOf(`{"headers": ["x-a"]}`, wire.PartHeaders) == tagOf(`{"headers": ["x-a", "x-b"]}`, wire.PartHeaders) {
		t.Error("another list of headers has the same algorithm")
	}
}

// Nothing that a client sends chooses an algorithm.
func TestClientsChooseNoAlgorithm(t *testing.T) {
	for _, rule := range []string{`{}`, `{"body": "form"}`, `{"body": "multipart"}`, `{"body": "raw"}`,
		`{"over": "content_digest", "max_body": "10B"}`, `{"over": "prefix", "max_body": "10B"}`} {
		var want string
		for _, lines := range [][]wire.HeaderLine{nil, {hline("content-encoding", "gzip")}, {hline("content-encoding", "br")},
			{hline("content-type", "application/x-www-form-urlencoded")}, {hline("content-type", "multipart/form-data; boundary=x")},
			{hline("content-length", "11"), hline("content-digest", stated("hello world"))}} {
			for _, body := range []string{"", "{}", "a=1", "hello world"} {
				fp, _, reply := fingerprintRig(t, rule).claimed([]string{body}, lines...)
				if reply != nil {
					continue
				}
				var tags []wire.Algorithm
				for p := range wire.Parts(fp) {
					tags = append(tags, p.Algorithm)
				}
				if got := fmt.Sprint(tags); want == "" {
					want = got
				} else if got != want {
					t.Errorf("%s: %v with %q make %s, others %s", rule, lines, body, got, want)
				}
			}
		}
	}
}

func stated(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// However a body is cut, and whether its length is declared, its fingerprint is
// the same.
func TestFramingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]string{`{}`, `{"body": "raw"}`, `{"body": "form"}`, `{"body": "multipart"}`, `{"body": "none", "max_body": "16B"}`,
			`{"over": "content_digest", "max_body": "16B"}`, `{"over": "prefix", "max_body": "16B"}`}).Draw(t, "rule")
		body := rapid.OneOf(rapid.SampledFrom([]string{"", "{}", `{"a": [1, 2.0]}`, "a=1&b=2&c=%20", strings.Repeat("x", 16), strings.Repeat("x", 17)}),
			rapid.StringN(0, 40, 60)).Draw(t, "body")
		lines := []wire.HeaderLine{hline("content-type", "application/x-www-form-urlencoded"), hline("content-digest", stated(body))}
		length := hline("content-length", fmt.Sprint(len(body)))
		whole, _ := fingerprintRig(t, rule).claims([]string{body}, append(lines, length)...)
		if !strings.Contains(rule, "prefix") || len(body) <= 16 { // which needs the length
			if rapid.Bool().Draw(t, "declared") {
				lines = append(lines, length)
			}
		} else {
			lines = append(lines, length)
		}
		var chunks []string
		for rest := body; ; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "n")
			chunks = append(chunks, rest[:n])
			if rest = rest[n:]; rest == "" {
				break
			}
		}
		if rapid.Bool().Draw(t, "an empty last chunk") {
			chunks = append(chunks, "")
		}
		cut, _ := fingerprintRig(t, rule).claims(chunks, lines...)
		if !bytes.Equal(whole, cut) {
			t.Fatalf("%s: %q in chunks %q has another fingerprint", rule, body, chunks)
		}
	})
}

// Every part counts, and an empty body differs from one.
func TestEveryPartCounts(t *testing.T) {
	const rule = `{"headers": ["x-a", "x-b"]}`
	a := hline("x-a", "1")
	base, _ := fingerprintRig(t, rule).claims([]string{"{}"}, a)
	for _, c := range []struct {
		body  []string
		lines []wire.HeaderLine
		want  wire.PartID
	}{
		{[]string{"[]"}, []wire.HeaderLine{a}, wire.PartBody},
		{nil, []wire.HeaderLine{a}, wire.PartBody},
		{[]string{""}, []wire.HeaderLine{a}, wire.PartBody},
		{[]string{"{}"}, nil, wire.PartHeaders},
		{[]string{"{}"}, []wire.HeaderLine{a, a}, wire.PartHeaders},
		{[]string{"{}"}, []wire.HeaderLine{hline("x-b", "1")}, wire.PartHeaders},
	} {
		fp, _ := fingerprintRig(t, rule).claims(c.body, c.lines...)
		if got := wire.Differs(base, fp); !bytes.Equal(got, []byte{byte(c.want)}) {
			t.Errorf("%q, %v: differs in %v, want %v", c.body, c.lines, got, c.want)
		}
	}
	none, _ := fingerprintRig(t, rule).claims(nil)
	empty, _ := fingerprintRig(t, rule).claims([]string{"", ""})
	if !bytes.Equal(none, empty) {
		t.Error("no body and an empty one differ")
	}
}

// Above max_body something else stands for the body, or the request is refused.
func TestLongBodies(t *testing.T) {
	long := strings.Repeat("a", 10) + "tail"
	length := hline("content-length", fmt.Sprint(len(long)))
	digest := hline("content-digest", stated(long))
	for _, c := range []struct {
		name, rule string
		lines      []wire.HeaderLine
		want       Compared
		detail     string // of a refusal
	}{
		{"reject", `{"max_body": "10B"}`, []wire.HeaderLine{length, digest}, 0, "too large to be compared"},
		{"reject, length not declared", `{"max_body": "10B"}`, []wire.HeaderLine{digest}, 0, "too large to be compared"},
		{"digest", `{"max_body": "10B", "over": "content_digest"}`, []wire.HeaderLine{length, digest}, ComparedStated, ""},
		{"digest, length not declared", `{"max_body": "10B", "over": "content_digest"}`, []wire.HeaderLine{digest}, ComparedStated, ""},
		{"digest, none", `{"max_body": "10B", "over": "content_digest"}`, []wire.HeaderLine{length}, 0, "needs a Content-Digest"},
		{"digest, broken", `{"max_body": "10B", "over": "content_digest"}`, []wire.HeaderLine{hline("content-digest", "sha-256=:AA==:")}, 0, "needs a Content-Digest"},
		{"prefix", `{"max_body": "10B", "over": "prefix"}`, []wire.HeaderLine{length}, ComparedPrefix, ""},
		{"prefix, length not declared", `{"max_body": "10B", "over": "prefix"}`, nil, 0, "needs a Content-Length"},
		{"none", `{"max_body": "10B", "body": "none"}`, []wire.HeaderLine{length}, NotCompared, ""},
		{"none, length not declared", `{"max_body": "10B", "body": "none"}`, nil, NotCompared, ""},
	} {
		for _, cut := range []int{0, 3, 10, 12} {
			g := fingerprintRig(t, c.rule)
			_, compared, reply := g.claimed([]string{long[:cut], long[cut:], ""}, c.lines...)
			if (reply != nil) != (c.detail != "") || compared != c.want {
				t.Errorf("%s, cut at %d: compared as %v, answered %v", c.name, cut, compared, reply != nil)
				continue
			}
			if reply != nil && (reply.Status != 413 || !strings.Contains(string(reply.Body), c.detail)) {
				t.Errorf("%s: %d %s", c.name, reply.Status, reply.Body)
			}
			if reply != nil && len(g.records) > 0 {
				t.Errorf("%s: a record is left", c.name)
			}
		}
	}
	// A body of the length that is read is compared as it is.
	for _, over := range []string{"content_digest", "prefix"} {
		g := fingerprintRig(t, `{"max_body": "14B", "over": "`+over+`"}`)
		if _, compared := g.claims([]string{long}, length, digest); compared != ComparedRaw {
			t.Errorf("%s: compared as %v", over, compared)
		}
	}
}

// What stands for a long body counts, and it is never taken for a body.
func TestLongBodiesDiffer(t *testing.T) {
	long := func(s string) []wire.HeaderLine {
		return []wire.HeaderLine{hline("content-length", fmt.Sprint(len(s))), hline("content-digest", stated(s))}
	}
	a, b, c := strings.Repeat("a", 20), strings.Repeat("a", 19)+"b", strings.Repeat("a", 21)
	for _, tt := range []struct {
		over     string
		one, two string
		equal    bool
	}{
		{"content_digest", a, a, true}, {"content_digest", a, b, false},
		{"prefix", a, a, true}, {"prefix", a, b, true}, {"prefix", a, c, false}, {"prefix", a, "b" + a[1:], false},
	} {
		rule := `{"max_body": "10B", "over": "` + tt.over + `"}`
		one, _ := fingerprintRig(t, rule).claims([]string{tt.one}, long(tt.one)...)
		two, _ := fingerprintRig(t, rule).claims([]string{tt.two}, long(tt.two)...)
		if wire.Conflict(one, two) == tt.equal {
			t.Errorf("%s: %s and %s: equal is %v", tt.over, tt.one, tt.two, !tt.equal)
		}
		labelled, _ := fingerprintRig(t, rule).claims([]string{tt.one}, append(long(tt.one), hline("content-encoding", "gzip"))...)
		if !wire.Conflict(one, labelled) {
			t.Errorf("%s: the same bytes with an encoding are the same", tt.over)
		}
	}
}

// A long body flows on after the grant, and not before.
func TestLongBodiesFlowAfterTheGrant(t *testing.T) {
	g := fingerprintRig(t, `{"max_body": "10B", "over": "content_digest"}`)
	s := g.open("POST", "/f", "k", false, hline("content-length", "40"), hline("content-digest", stated("x")))
	if !s.pausedReq || len(g.flights) != 1 {
		t.Fatal("the claim does not leave with the headers")
	}
	if a := g.body(s, "0123456789", false); a != Hold || s.resumed != 0 {
		t.Fatalf("a chunk before the grant: %v", a)
	}
	g.answerAll()
	if s.resumed != 1 {
		t.Fatal("not resumed")
	}
	if a := g.body(s, "0123456789", false); a != Continue || s.core.body != nil {
		t.Fatalf("a chunk after the grant: %v", a)
	}
	// The upload outlives its lease: it is renewed.
	before := s.core.lease
	for end := g.now + int64(3*s.core.rule.Recovery.Lease); g.now < end; g.answerAll() {
		g.pass(100 * time.Millisecond)
		if g.now >= s.core.lease {
			t.Fatal("the lease ended during the upload")
		}
	}
	if a := g.body(s, "0123456789", true); a != Continue || s.core.lease <= before {
		t.Errorf("the end of the upload: %v", a)
	}
}

func TestStatedDigest(t *testing.T) {
	a, b := strings.Repeat("A", 43)+"=", strings.Repeat("A", 86)+"=="
	for name, c := range map[string]struct {
		lines     []string
		algorithm string
	}{
		"sha-256":            {[]string{"sha-256=:" + a + ":"}, "sha-256"},
		"sha-512":            {[]string{"sha-512=:" + b + ":"}, "sha-512"},
		"both":               {[]string{"sha-512=:" + b + ":, sha-256=:" + a + ":"}, "sha-256"},
		"both, two lines":    {[]string{"sha-256=:" + a + ":", "sha-512=:" + b + ":"}, "sha-256"},
		"with another":       {[]string{"md5=:AAAA:,\tsha-256=:" + a + ": "}, "sha-256"},
		"another":            {[]string{"md5=:AAAA:"}, ""},
		"nothing":            {nil, ""},
		"empty":              {[]string{""}, ""},
		"twice":              {[]string{"sha-256=:" + a + ":", "sha-256=:" + a + ":"}, ""},
		"upper case":         {[]string{"SHA-256=:" + a + ":"}, ""},
		"short":              {[]string{"sha-256=:AAAA:"}, ""},
		"a broken second":    {[]string{"sha-256=:" + a + ":, sha-512=:AAAA:"}, ""},
		"no padding":         {[]string{"sha-256=:" + a[:43] + ":"}, ""},
		"loose bits":         {[]string{"sha-256=:" + a[:42] + "B=:"}, ""},
		"no colons":          {[]string{"sha-256=" + a}, ""},
		"a parameter":        {[]string{"sha-256=:" + a + ":;x=1"}, ""},
		"spaces":             {[]string{"sha-256 =:" + a + ":"}, ""},
		"a trailing comma":   {[]string{"sha-256=:" + a + ":,"}, ""},
		"a boolean":          {[]string{"sha-256"}, ""},
		"more than is right": {[]string{strings.Repeat("a=:AAAA:,", 9) + "sha-256=:" + a + ":"}, ""},
	} {
		algorithm, digest, ok := statedDigest(c.lines)
		if ok != (c.algorithm != "") || algorithm != c.algorithm && ok || ok && len(digest) != map[string]int{"sha-256": 32, "sha-512": 64}[algorithm] {
			t.Errorf("%s: %q %d %v", name, algorithm, len(digest), ok)
		}
	}
}

// TestHeaderLinesKeepTheirBounds: two lines are another request than the same bytes
// in one, or split elsewhere.
func TestHeaderLinesKeepTheirBounds(t *testing.T) {
	sums := map[[wire.DigestBytes]byte]string{}
	for _, lines := range [][]string{nil, {""}, {"abc"}, {"ab", "c"}, {"a", "bc"}, {"abc", ""}} {
		var h headers
		for _, v := range lines {
			h.lines = append(h.lines, wire.HeaderLine{Name: "x-tenant", Value: v})
		}
		sum := headersDigest([]string{"x-tenant"}, h)
		if other, ok := sums[sum]; ok {
			t.Errorf("%q is as %s", lines, other)
		}
		sums[sum] = fmt.Sprintf("%q", lines)
	}
}
