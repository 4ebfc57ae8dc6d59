package rules

import (
	"strings"
	"testing"
)

const needsBody = "needs envoy.allow_on_headers_stop_iteration: true (Envoy 1.35 and later): without it Envoy does not deliver the body of a request whose headers are held"

// bad are configurations with one fault each. A line starts after "config: ".
// shape is set where the JSON schema refuses the text too.
var bad = []struct {
	name, text, line string
	shape            bool
}{
	// The text.
	{"not JSON", `{"namespace": "edge",}`, `not JSON at line 1, column 22: invalid character '}' looking for beginning of object key string`, true},
	{"second line", "{\n  nope", `not JSON at line 2, column 3: invalid character 'n' looking for beginning of object key string`, true},
	{"not an object", `[]`, `must be an object, is a list`, true},
	{"unknown field", withRule(`, "retries": 1`), `rule "r": retries is not a field; the fields here are name, scope, previous_scopes, match, key, fingerprint, durability, mode, enforce_percent, lookup, streaming, principal, in_flight, completed, record, outcomes, statuses, upstream_timeout, envoy_retries, recovery, unavailable`, true},
	{"duplicate member", withRule(`, "unavailable": "forward"`), `rule "r": unavailable is there twice`, false},
	{"member in another case", replaced(`"namespace"`, `"Namespace": "e", "namespace"`), `Namespace is not a field; the fields here are namespace, bridge, envoy, issue, lookup, discovery, defaults, rules`, true},

	// Types and forms.
	{"number for a string", replaced(`"edge"`, `5`), `namespace 5 must be a string, is a number`, true},
	{"string for a boolean", replaced(`true}, "issue"`, `"true"}, "issue"`), `envoy.allow_on_headers_stop_iteration "true" must be true or false, is a string`, true},
	{"true is no mode", withRule(`, "mode": true`), `rule "r": mode true must be a string, is a boolean`, true},
	{"false where off is no choice", replaced(`"unavailable": "reject"`, `"unavailable": false`), `rule "r": unavailable false must be a string, is a boolean`, true},
	{"null", withRule(`, "scope": null`), `rule "r": scope must be a string, is null`, true},
	{"string for an integer", withRule(`, "key": {"max_length": "255"}`), `rule "r": key.max_length "255" must be a whole number, is a string`, true},
	{"fraction", withRule(`, "key": {"max_length": 2.5}`), `rule "r": key.max_length 2.5 must be a whole number, 1 to 1024`, true},
	{"exponent", withRule(`, "key": {"max_length": 1e2}`), `rule "r": key.max_length 1e2 must be a whole number, 1 to 1024`, false},
	{"integer too large", withRule(`, "key": {"max_length": 1025}`), `rule "r": key.max_length 1025 must be 1 to 1024`, true},
	{"negative integer", withRule(`, "key": {"max_length": -1}`), `rule "r": key.max_length -1 must be a whole number, 1 to 1024`, true},
	{"duration without unit", replaced(`"15s"`, `"15"`), `rule "r": upstream_timeout "15" must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, 0s to 1h`, true},
	{"duration as a number", replaced(`"15s"`, `15`), `rule "r": upstream_timeout 15 must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, is a number`, true},
	{"negative duration", replaced(`"15s"`, `"-15s"`), `rule "r": upstream_timeout "-15s" must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, 0s to 1h`, true},
	{"part of a millisecond", replaced(`"15s"`, `"1.5ms"`), `rule "r": upstream_timeout "1.5ms" must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, 0s to 1h`, false},
	{"microseconds", replaced(`"15s"`, `"5000us"`), `rule "r": upstream_timeout "5000us" must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, 0s to 1h`, true},
	{"duration beyond its bound", replaced(`"15s"`, `"61m"`), `rule "r": upstream_timeout "61m" must be 0s to 1h`, false},
	{"zero upstream timeout", replaced(`"15s"`, `"0s"`), `rule "r": upstream_timeout "0s" must be 1ms to 1h: 0s is for rules with streaming: true`, false},
	{"duration beyond 64 bits", replaced(`"15s"`, `"99999999999h"`), `rule "r": upstream_timeout "99999999999h" must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, 0s to 1h`, false},
	{"redact and keep nothing", withRule(`, "record": {"body": "none", "redact": ["/a"]}`), `rule "r": record.redact has nothing to do with record.body "none"`, false},
	{"redact everything", withRule(`, "record": {"redact": [""]}`), `rule "r": record.redact[0] "" has 0 bytes, must have 2 to 256 bytes`, true},
	{"redact by name", withRule(`, "record": {"redact": ["card"]}`), `rule "r": record.redact[0] "card" must be a JSON pointer below the root, such as "/transfer_id"`, true},
	{"decimal unit of size", withRule(`, "record": {"max_body": "1MB"}`), `rule "r": record.max_body "1MB" must be a size such as "100B", "256KiB" or "1MiB", or a whole number of bytes, 0B to 16MiB`, true},
	{"size beyond 64 bits", withRule(`, "record": {"max_body": "9999999999999999999KiB"}`), `rule "r": record.max_body "9999999999999999999KiB" must be a size such as "100B", "256KiB" or "1MiB", or a whole number of bytes, 0B to 16MiB`, false},
	{"bad name", replaced(`"name": "r"`, `"name": "r r"`), `rules[0]: name "r r" must be of letters, digits, '.', '_' and '-'`, true},
	{"empty namespace", replaced(`"edge"`, `""`), `namespace "" has 0 bytes, must have 1 to 128 bytes`, true},
	{"no rules", `{` + head + `, "rules": []}`, `rules has 0 entries, must have 1 to 1000 entries`, true},
	{"rule is no object", `{` + head + `, "rules": ["r"]}`, `rules[0]: "r" must be an object, is a string`, true},
	{"no cluster", replaced(`"cluster": "b"`, `"authority": "x"`), `bridge.cluster is required`, true},
	{"bridge timeout", replaced(`"cluster": "b"`, `"cluster": "b", "timeout": "9ms"`), `bridge.timeout "9ms" must be 10ms to 10s`, false},
	{"buffer limit", replaced(`"envoy": {`, `"envoy": {"buffer_limit": "65MiB", `), `envoy.buffer_limit "65MiB" must be 1KiB to 64MiB`, false},

	// Match.
	{"no match", strings.Replace(withRule(""), `"match": {"path": {"prefix": "/r"}}, `, "", 1), `rule "r": match is required`, true},
	{"exact and prefix", replaced(`"prefix": "/r"`, `"prefix": "/r", "exact": "/r"`), `rule "r": match.path must have exactly one of exact, prefix, template and regexp`, false},
	{"neither", replaced(`"prefix": "/r"`, ``), `rule "r": match.path must have exactly one of exact, prefix, template and regexp`, false},
	{"encoded path", replaced(`"/r"`, `"/r%20s"`), `rule "r": match.path.prefix "/r%20s" must be an absolute path in normal form: decoded, without "%", "?", "#", ";", "\", "//", "." and ".." segments`, true},
	{"relative path", replaced(`"/r"`, `"r"`), `rule "r": match.path.prefix "r" must be an absolute path in normal form: decoded, without "%", "?", "#", ";", "\", "//", "." and ".." segments`, true},
	{"dots in a path", replaced(`"/r"`, `"/a/../r"`), `rule "r": match.path.prefix "/a/../r" must be an absolute path in normal form: decoded, without "%", "?", "#", ";", "\", "//", "." and ".." segments`, false},
	{"query in a path", replaced(`"/r"`, `"/r?a"`), `rule "r": match.path.prefix "/r?a" must be an absolute path in normal form: decoded, without "%", "?", "#", ";", "\", "//", "." and ".." segments`, true},
	{"lower-case method", replaced(`"match": {`, `"match": {"methods": ["post"], `), `rule "r": match.methods[0] "post" must be a method in upper case`, true},
	{"method twice", replaced(`"match": {`, `"match": {"methods": ["PUT", "PUT"], `), `rule "r": match.methods[1] "PUT" is there twice, first at [0]`, true},
	{"the issue path", replaced(`"prefix": "/r"`, `"exact": "/idempotency-keys/"`), `rule "r": match.path.exact "/idempotency-keys/" is issue.path, whose POST never reaches a rule`, false},
	{"no path", replaced(`{"path": {"prefix": "/r"}}`, `{"methods": ["PUT"]}`), `rule "r": match.path is required, unless routes name their rule (envoy.route_metadata: true)`, false},
	{"template without a variable", replaced(`"prefix": "/r"`, `"template": "/r/s"`), `rule "r": match.path.template "/r/s" has no variable: state it as exact`, false},
	{"template of variables", replaced(`"prefix": "/r"`, `"template": "/{a}/{b}"`), `rule "r": match.path.template "/{a}/{b}" has no fixed segment: it would take every path of its length`, false},
	{"half a variable", replaced(`"prefix": "/r"`, `"template": "/r/x{a}"`), `rule "r": match.path.template "/r/x{a}" has a segment that is neither fixed nor a variable "{name}", of letters, digits, '.', '_' and '-'`, false},
	{"variable twice", replaced(`"prefix": "/r"`, `"template": "/r/{a}/{a}"`), `rule "r": match.path.template "/r/{a}/{a}" names a variable twice`, false},
	{"no expression", replaced(`"prefix": "/r"`, `"regexp": "/r("`), `rule "r": match.path.regexp "/r(" must be an RE2 regular expression of at most 500 instructions`, false},
	{"expression too large", replaced(`"prefix": "/r"`, `"regexp": "/r(abc){400}"`), `rule "r": match.path.regexp "/r(abc){400}" must be an RE2 regular expression of at most 500 instructions`, false},
	{"expression without a slash", replaced(`"prefix": "/r"`, `"regexp": "orders/.*"`), `rule "r": match.path.regexp "orders/.*" can match no path: a path begins with a slash`, false},
	{"host with a port", replaced(`{"path"`, `{"hosts": ["a.example:80"], "path"`), `rule "r": match.hosts[0] "a.example:80" must be a host in lower case without port, or "*." before one`, true},
	{"two conditions on a header", replaced(`{"path"`, `{"headers": [{"name": "a", "exact": "b", "prefix": "c"}], "path"`), `rule "r": match.headers[0] must have at most one of exact, prefix and regexp`, false},
	{"host as a header", replaced(`{"path"`, `{"headers": [{"name": "host"}], "path"`), `rule "r": match.headers[0].name "host" cannot be matched: use hosts for the host; the others are not the client's word`, false},

	// Principal.
	{"no principal", strings.Replace(withRule(""), `"principal": {"header": "x-user", "trusted": true}, `, "", 1), `rule "r": principal must be stated by the rule or by defaults`, false},
	{"header not trusted", replaced(`, "trusted": true`, ``), `rule "r": principal.trusted must be true: it states that no client can set the header "x-user"`, false},
	{"trusted false", replaced(`"trusted": true`, `"trusted": false`), `rule "r": principal.trusted false must be true: it states that no client can set the header "x-user"`, false},
	{"two sources", replaced(`"trusted": true`, `"trusted": true, "const": "x"`), `rule "r": principal must have exactly one source: header, jwt_claim, peer_certificate or const; or be "anonymous"`, false},
	{"no source", replaced(`{"header": "x-user", "trusted": true}`, `{}`), `rule "r": principal must have exactly one source: header, jwt_claim, peer_certificate or const; or be "anonymous"`, false},
	{"a list of two", replaced(`{"header": "x-user", "trusted": true}`, `{"from": [{"const": "a"}, {"const": "b"}]}`), `rule "r": principal.from[1] stands behind a source that is never absent`, false},
	{"list and source", replaced(`{"header": "x-user"`, `{"from": ["anonymous"], "header": "x-user"`), `rule "r": principal must have either from or one source, not both`, false},
	{"a certificate, else a header", replaced(`{"header": "x-user", "trusted": true}`, `{"from": [{"peer_certificate": "uri_san"}, {"header": "x-user", "trusted": true}]}`), `rule "r": principal.from[1] must not be a header: whoever leaves out what principal.from[0] verifies would be named by it`, false},
	{"a claim, a certificate, a header", replaced(`{"header": "x-user", "trusted": true}`, `{"from": [{"jwt_claim": "sub", "issuer": "a"}, {"peer_certificate": "subject"}, {"header": "x-user", "trusted": true}]}`), `rule "r": principal.from[2] must not be a header: whoever leaves out what principal.from[0] verifies would be named by it`, false},
	{"one source twice", replaced(`{"header": "x-user", "trusted": true}`, `{"from": [{"jwt_claim": "sub", "issuer": "a"}, {"jwt_claim": "sub", "issuer": "a"}]}`), `rule "r": principal.from[1] is there twice, first at [0]`, false},
	{"certificate's member", replaced(`{"header": "x-user", "trusted": true}`, `{"peer_certificate": "email"}`), `rule "r": principal.peer_certificate "email" must be one of uri_san, dns_san, subject, sha256`, true},
	{"trust domain of a digest", replaced(`{"header": "x-user", "trusted": true}`, `{"peer_certificate": "sha256", "trust_domain": "a.example"}`), `rule "r": principal.trust_domain "a.example" belongs to peer_certificate uri_san`, false},
	{"empty name in a claim", replaced(`{"header": "x-user", "trusted": true}`, `{"jwt_claim": "a..b", "issuer": "i"}`), `rule "r": principal.jwt_claim "a..b" has an empty name between dots or slashes`, false},
	{"empty name in a claim's pointer", replaced(`{"header": "x-user", "trusted": true}`, `{"jwt_claim": "/a//b", "issuer": "i"}`), `rule "r": principal.jwt_claim "/a//b" has an empty name between dots or slashes`, false},
	{"a claim's pointer", replaced(`{"header": "x-user", "trusted": true}`, `{"jwt_claim": "/a~2", "issuer": "i"}`), `rule "r": principal.jwt_claim "/a~2" begins with "/" and is no JSON pointer: "~" stands before 0 or 1`, false},
	{"a header of the connection as a key", replaced(`"match"`, `"key": {"from": [{"header": "host"}]}, "match"`), `rule "r": key.from[0].header "host" cannot be a key: it does not name an action, or is a new one for each retry`, false},
	{"a trace as a part of a key", replaced(`"match"`, `"key": {"from": [{"all": [{"query": "a"}, {"header": "traceparent"}]}]}, "match"`), `rule "r": key.from[0].all[1].header "traceparent" cannot be a key: it does not name an action, or is a new one for each retry`, false},
	{"a source of keys twice", replaced(`"match"`, `"key": {"from": [{"json": ["/a", "/b"]}, {"query": "a"}, {"json": ["/a", "/b"]}]}, "match"`), `rule "r": key.from[2] is there twice, first at [0]`, false},
	{"a part of a key twice", replaced(`"match"`, `"key": {"from": [{"all": [{"query": "a"}, {"query": "a"}]}]}, "match"`), `rule "r": key.from[0].all[1] is there twice, first at [0]`, false},
	{"a longer UUID", replaced(`"match"`, `"key": {"format": "uuid", "min_length": 37}, "match"`), `rule "r": key.min_length 37 must be <= 36, the length of a UUID`, false},
	{"a UUID of other characters", replaced(`"match"`, `"key": {"format": "uuid", "alphabet": "a-z-"}, "match"`), `rule "r": key.alphabet "a-z-" leaves out characters that a UUID has: 0-9, a-f and '-'`, false},
	{"entropy that no key has", replaced(`"match"`, `"key": {"min_entropy_bits": 34, "max_length": 10}, "match"`), `rule "r": key.min_entropy_bits 34 must be <= 33, the most that a key of this length and alphabet can have`, false},
	{"entropy that no key of the alphabet has", replaced(`"match"`, `"key": {"min_entropy_bits": 256, "alphabet": "ab"}, "match"`), `rule "r": key.min_entropy_bits 256 must be <= 255, the most that a key of this length and alphabet can have`, false},
	{"the key as a principal", replaced(`{"header": "x-user", "trusted": true}`, `{"header": "idempotency-key", "trusted": true}`), `rule "r": principal.header "idempotency-key" cannot be a principal: it does not say who the caller is`, false},
	{"a request's id as a principal", replaced(`{"header": "x-user", "trusted": true}`, `{"header": "x-request-id", "trusted": true}`), `rule "r": principal.header "x-request-id" cannot be a principal: it does not say who the caller is`, false},
	{"a header of Envoy's as a principal", replaced(`{"header": "x-user", "trusted": true}`, `{"header": "x-envoy-attempt-count", "trusted": true}`), `rule "r": principal.header "x-envoy-attempt-count" cannot be a principal: it does not say who the caller is`, false},
	{"empty name in a key's claim", replaced(`"match"`, `"key": {"from": [{"jwt_claim": "a..b", "issuer": "i"}]}, "match"`), `rule "r": key.from[0].jwt_claim "a..b" has an empty name between dots or slashes`, false},
	{"claim without issuer", replaced(`{"header": "x-user", "trusted": true}`, `{"jwt_claim": "sub"}`), `rule "r": principal.issuer is required with jwt_claim: two issuers may use one value for two people`, false},
	{"stray issuer", replaced(`"trusted": true`, `"trusted": true, "issuer": "x"`), `rule "r": principal.issuer belongs to jwt_claim, which is not there`, false},
	{"other word", replaced(`{"header": "x-user", "trusted": true}`, `"anyone"`), `rule "r": principal "anyone" must be one of anonymous`, true},

	// Key.
	{"empty source", withRule(`, "key": {"from": [{}]}`), `rule "r": key.from[0] must have exactly one of header, json, form, query, cookie, path, jwt_claim, all`, false},
	{"two in one source", withRule(`, "key": {"from": [{"header": "a", "json": "/a"}]}`), `rule "r": key.from[0] must have exactly one of header, json, form, query, cookie, path, jwt_claim, all`, false},
	{"x-request-id", withRule(`, "key": {"from": [{"header": "x-request-id"}]}`), `rule "r": key.from[0].header "x-request-id" cannot be a key: Envoy makes up a new x-request-id for each request, so a retry would be a new key`, false},
	{"own header", withRule(`, "key": {"from": [{"header": "idempotency-fence"}]}`), `rule "r": key.from[0].header "idempotency-fence" cannot be a key: the gateway sets or removes this header itself`, false},
	{"credentials", withRule(`, "key": {"from": [{"header": "authorization"}]}`), `rule "r": key.from[0].header "authorization" cannot be a key: it is the same for different requests of a client`, false},
	{"principal as key", withRule(`, "key": {"from": [{"header": "x-user"}]}`), `rule "r": key.from[0].header "x-user" cannot be a key: it is the rule's principal`, false},
	{"header in upper case", withRule(`, "key": {"from": [{"header": "Idempotency-Key"}]}`), `rule "r": key.from[0].header "Idempotency-Key" must be a header name in lower case`, true},
	{"pointer", withRule(`, "key": {"from": [{"json": "a"}]}`), `rule "r": key.from[0].json "a" has 1 bytes, must have 2 to 256 bytes`, true},
	{"pointer escape", withRule(`, "key": {"from": [{"json": ["/a~2"]}]}`), `rule "r": key.from[0].json[0] "/a~2" must be a JSON pointer below the root, such as "/transfer_id"`, true},
	{"no such variable", withRule(`, "key": {"from": [{"path": "k"}]}`), `rule "r": key.from[0].path "k" is no variable of match.path.template; a number counts segments from 1`, false},
	{"segment 0", withRule(`, "key": {"from": [{"path": 0}]}`), `rule "r": key.from[0].path 0 must be 1 to 64`, true},
	{"parts in parts", withRule(`, "key": {"from": [{"all": [{"query": "a"}, {"all": [{"query": "b"}, {"query": "c"}]}]}]}`), `rule "r": key.from[0].all[1].all is not a field; the fields here are header, json, form, query, cookie, path, jwt_claim, issuer, payload`, true},
	{"one part", withRule(`, "key": {"from": [{"all": [{"query": "a"}]}]}`), `rule "r": key.from[0].all has 1 entries, must have 2 to 8 entries`, true},
	{"x-request-id as a part", withRule(`, "key": {"from": [{"all": [{"query": "a"}, {"header": "x-request-id"}]}]}`), `rule "r": key.from[0].all[1].header "x-request-id" cannot be a key: Envoy makes up a new x-request-id for each request, so a retry would be a new key`, false},
	{"all cookies", withRule(`, "key": {"from": [{"header": "cookie"}]}`), `rule "r": key.from[0].header "cookie" cannot be a key: it is the same for different requests of a client; name one cookie with cookie`, false},
	{"shortest longer than longest", withRule(`, "key": {"min_length": 256}`), `rule "r": key.min_length 256 must be <= 255 (key.max_length)`, false},
	{"alphabet", withRule(`, "key": {"alphabet": "z-a"}`), `rule "r": key.alphabet "z-a" must be a set of visible ASCII characters and the space, such as "A-Za-z0-9_-"`, false},
	{"format", withRule(`, "key": {"format": "ulid"}`), `rule "r": key.format "ulid" must be one of any, uuid`, true},
	{"versions without format", withRule(`, "key": {"uuid_versions": [4]}`), `rule "r": key.uuid_versions belongs to format "uuid"`, false},
	{"version 9", withRule(`, "key": {"format": "uuid", "uuid_versions": [9]}`), `rule "r": key.uuid_versions[0] 9 must be 1 to 8`, true},
	{"UUID too long", withRule(`, "key": {"format": "uuid", "max_length": 35}`), `rule "r": key.format "uuid" needs key.max_length >= 36, the length of a UUID`, false},
	{"composite UUID", withRule(`, "key": {"format": "uuid", "from": [{"json": ["/a", "/b"]}]}`), `rule "r": key.format "uuid" cannot be met by key.from[0], whose parts are joined by colons`, false},
	{"grammar of issued keys", withRule(`, "key": {"issued": true, "min_length": 3}`), `rule "r": key.issued true makes the grammar of keys the gateway's own: state no min_length, alphabet, format, uuid_versions or min_entropy_bits`, false},
	{"claim without issuer as a key", withRule(`, "key": {"from": [{"jwt_claim": "jti"}]}`), `rule "r": key.from[0].issuer is required with jwt_claim: two issuers may use one value for two actions`, false},
	{"issuer of a header", withRule(`, "key": {"from": [{"header": "k", "issuer": "x"}]}`), `rule "r": key.from[0].issuer belongs to jwt_claim, which is not there`, false},
	{"form that never comes", strings.Replace(withRule(`, "fingerprint": {"body": "none"}, "key": {"from": [{"form": "a"}]}`), `"allow_on_headers_stop_iteration": true`, "", 1), `rule "r": key.from[0].form ` + needsBody, false},
	{"part that never comes", strings.Replace(withRule(`, "fingerprint": {"body": "none"}, "key": {"from": [{"all": [{"query": "a"}, {"form": "a"}]}]}`), `"allow_on_headers_stop_iteration": true`, "", 1), `rule "r": key.from[0] ` + needsBody, false},
	{"issued without issue", strings.Replace(withRule(`, "key": {"issued": true}`), `, "issue": {}`, "", 1), `rule "r": key.issued true needs an issue block at the top: no keys are issued`, false},
	{"key in a body that never comes", strings.Replace(withRule(`, "fingerprint": {"body": "none"}, "key": {"from": [{"json": "/a"}]}`), `"allow_on_headers_stop_iteration": true`, "", 1), `rule "r": key.from[0].json ` + needsBody, false},

	// Fingerprint and record.
	{"body that never comes", strings.Replace(withRule(`, "fingerprint": {"body": "raw"}`), `"allow_on_headers_stop_iteration": true`, "", 1), `rule "r": fingerprint.body "raw" ` + needsBody, false},
	{"ignored in a raw body", withRule(`, "fingerprint": {"body": "raw", "ignore": ["/client_time"]}`), `rule "r": fingerprint.ignore needs fingerprint.body "json", "form" or "multipart"`, false},
	{"ignored below a field", withRule(`, "fingerprint": {"body": "form", "ignore": ["/a", "/a/b"]}`), `rule "r": fingerprint.ignore[1] "/a/b" must be "/" and the name of a field`, false},
	{"over without a body", withRule(`, "fingerprint": {"body": "none", "over": "prefix"}`), `rule "r": fingerprint.over "prefix" has nothing to do with fingerprint.body "none", under which a larger body passes`, false},
	{"over, and the key in the body", withRule(`, "key": {"from": [{"json": "/id"}]}, "fingerprint": {"over": "content_digest"}`), `rule "r": fingerprint.over "content_digest" needs a source of the key outside the body: a larger body is not read for one`, false},
	{"request body beyond the buffer", withRule(`, "fingerprint": {"max_body": "2MiB"}`), `rule "r": fingerprint.max_body "2MiB" must be <= 1MiB (envoy.buffer_limit)`, false},
	{"response body beyond the buffer", withRule(`, "record": {"max_body": 1048577}`), `rule "r": record.max_body 1048577 must be <= 1MiB (envoy.buffer_limit)`, false},
	{"fingerprint of x-request-id", withRule(`, "fingerprint": {"headers": ["x-request-id"]}`), `rule "r": fingerprint.headers must not list x-request-id: it differs between a request and its retry`, false},

	// Decisions.
	{"wait without bound", withRule(`, "in_flight": {"action": "wait"}`), `rule "r": in_flight.max_wait is required with action "wait"`, false},
	{"action", withRule(`, "completed": {"action": "wait"}`), `rule "r": completed.action "wait" must be one of replay, reject`, true},
	{"ttl", withRule(`, "completed": {"ttl": "721h"}`), `rule "r": completed.ttl "721h" must be 1s to 720h`, false},
	{"no upstream timeout", strings.Replace(withRule(""), `"upstream_timeout": "15s", `, "", 1), `rule "r": upstream_timeout must be stated by the rule or by defaults`, false},
	{"no recovery", strings.Replace(withRule(""), `"recovery": {"action": "hold"}, `, "", 1), `rule "r": recovery must be stated by the rule or by defaults`, false},
	{"recovery without action", replaced(`{"action": "hold"}`, `{"lease": "60s"}`), `rule "r": recovery.action is required`, true},
	{"no unavailable", strings.Replace(withRule(""), `, "unavailable": "reject"`, "", 1), `rule "r": unavailable must be stated by the rule or by defaults`, false},
	{"unavailable in another word", replaced(`"unavailable": "reject"`, `"unavailable": "guess"`), `rule "r": unavailable "guess" must be one of reject, forward, local`, true},
	{"lease one millisecond short", replaced(`{"action": "hold"}`, `{"action": "hold", "lease": "16499ms"}`), `rule "r": recovery.lease "16499ms" must be >= 16.5s (2 x bridge.timeout + upstream_timeout + clock skew + margin)`, false},
	{"default lease too short", replaced(`"15s"`, `"10m"`), `rule "r": recovery.lease is 1m by default; it must be >= 10m1.5s (2 x bridge.timeout + upstream_timeout + clock skew + margin)`, false},
	{"reacquire without fences", replaced(`{"action": "hold"}`, `{"action": "reacquire"}`), `rule "r": recovery.action "reacquire" needs recovery.backend_checks_fence: true: a backend that does not refuse a lower Idempotency-Fence may run the request twice`, false},
	{"compensate", replaced(`{"action": "hold"}`, `{"action": "hold", "compensate": "http://x"}`), `rule "r": recovery.compensate "http://x" is not supported by this version`, true},
	{"replicas", withRule(`, "durability": {"replicas": 6}`), `rule "r": durability.replicas 6 must be 0 to 5`, true},
	{"ledger", withRule(`, "durability": {"ledger": true}`), `rule "r": durability.ledger true is not supported by this version: must be false`, true},
	{"share without observing", withRule(`, "enforce_percent": 10`), `rule "r": enforce_percent 10 needs mode "observe": a rule in another mode enforces all of its requests, or none`, false},
	{"share above 100", withRule(`, "mode": "observe", "enforce_percent": 101`), `rule "r": enforce_percent 101 must be 0 to 100`, true},
	{"share without unavailable", strings.Replace(withRule(`, "mode": "observe", "enforce_percent": 1`), `, "unavailable": "reject"`, ``, 1), `rule "r": unavailable must be stated by the rule or by defaults`, false},
	{"streaming with a timeout", withRule(`, "streaming": true, "fingerprint": {"body": "none"}, "record": {"body": "none"}`), `rule "r": upstream_timeout "15s" must be 0s with streaming: true: such a call has no bound`, false},
	{"streaming that reads the request", strings.Replace(withRule(`, "streaming": true, "record": {"body": "none"}`), `"15s"`, `"0s"`, 1), `rule "r": streaming true needs fingerprint.body "none": the request's body is not read`, false},
	{"streaming that keeps the answer", strings.Replace(withRule(`, "streaming": true, "fingerprint": {"body": "none"}`), `"15s"`, `"0s"`, 1), `rule "r": streaming true needs record.body "none": the answer's body is not held`, false},
	{"streaming with a short lease", strings.NewReplacer(`"15s"`, `"0s"`, `{"action": "hold"}`, `{"action": "hold", "lease": "9999ms"}`).Replace(withRule(`, "streaming": true, "fingerprint": {"body": "none"}, "record": {"body": "none"}`)), `rule "r": recovery.lease "9999ms" must be >= 10s with streaming: true: it is renewed every third of it`, false},
	{"kept header that is kept anyway", withRule(`, "record": {"keep_headers": ["etag"]}`), `rule "r": record.keep_headers[0] "etag" must be set-cookie, set-cookie2, www-authenticate, proxy-authenticate, authentication-info, proxy-authentication-info or access-control-*: any other header is recorded anyway, or belongs to one exchange`, false},
	{"serialize_by", withRule(`, "serialize_by": {}`), `rule "r": serialize_by is not supported by this version`, true},
	{"fault in defaults", replaced(`"rules"`, `"defaults": {"unavailable": "guess"}, "rules"`), `defaults.unavailable "guess" must be one of reject, forward, local`, true},

	// Rules beside each other.
	{"one name twice", second(`"name": "r", "match": {"path": {"prefix": "/s"}}`), `rule "r": name is also the name of rules[0]; a name must be unique`, false},
	{"one match twice", second(`"name": "s", "match": {"path": {"prefix": "/r/"}}`), `rule "s": match is the match of rule "r" too; this rule would never be met`, false},
	{"a method of an earlier rule", second(`"name": "s", "match": {"methods": ["PUT"], "path": {"prefix": "/r"}}`), `rule "s": match is covered by rule "r", which stands before it; this rule would never be met`, false},
	{"a header after none", second(`"name": "s", "match": {"headers": [{"name": "a"}], "path": {"prefix": "/r"}}`), `rule "s": match is covered by rule "r", which stands before it; this rule would never be met`, false},
	{"one scope, two kinds of principal", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "principal": "anonymous"`), `rule "s": scope is shared with rule "r", whose principal is of another kind: their keys would never meet`, false},
	{"one scope, issued and not", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "key": {"issued": true}`), `rule "s": scope is shared with rule "r", whose key.issued is another: one key would be both`, false},
	{"one scope, other bodies", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "fingerprint": {"body": "none"}`), `rule "s": fingerprint differs from that of rule "r", which has the same scope: a request under a key of the other rule would not be compared with it`, false},
	{"one scope, other ignored members", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "fingerprint": {"ignore": ["/a"]}`), `rule "s": fingerprint differs from that of rule "r", which has the same scope: a request under a key of the other rule would not be compared with it`, false},
	{"one scope, other headers", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "fingerprint": {"headers": ["a"]}`), `rule "s": fingerprint differs from that of rule "r", which has the same scope: a request under a key of the other rule would not be compared with it`, false},
	{"one scope, other prefixes", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "fingerprint": {"over": "prefix"}`), `rule "s": fingerprint differs from that of rule "r", which has the same scope: a request under a key of the other rule would not be compared with it`, false},
	{"one scope, other bounds", second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "fingerprint": {"max_decoded_body": "2KiB"}`), `rule "s": fingerprint differs from that of rule "r", which has the same scope: a request under a key of the other rule would not be compared with it`, false},
	{"previous scope of now", second(`"name": "s", "previous_scopes": ["a", "s"], "match": {"path": {"prefix": "/s"}}`), `rule "s": previous_scopes[1] "s" is the rule's scope of now`, false},
	{"previous scope in use", second(`"name": "s", "previous_scopes": ["r"], "match": {"path": {"prefix": "/s"}}`), `rule "s": previous_scopes[0] "r" is the scope of rule "r"`, false},
	{"one previous scope twice", second(`"name": "s", "previous_scopes": ["a", "a"], "match": {"path": {"prefix": "/s"}}`), `rule "s": previous_scopes[1] "a" is there twice, first at [0]`, true},
	{"one scope, other previous ones", second(`"name": "s", "scope": "r", "previous_scopes": ["a"], "match": {"path": {"prefix": "/s"}}`), `rule "s": previous_scopes differ from those of rule "r", which has the same scope`, false},
}

// second is a configuration of two rules, the first being r under /r.
func second(given string) string {
	return `{` + head + `, "defaults": {` + must + `}, "rules": [
		{"name": "r", "match": {"path": {"prefix": "/r"}}}, {` + given + `}]}`
}

func TestBad(t *testing.T) {
	for _, b := range bad {
		t.Run(b.name, func(t *testing.T) {
			_, err := Parse([]byte(b.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if got := err.Error(); got != "config: "+b.line {
				t.Errorf("got  %s\nwant config: %s", got, b.line)
			}
		})
	}
}

// Two rules may share a scope when they agree on whose and which keys they are.
func TestSharedScope(t *testing.T) {
	mustParse(t, second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "fingerprint": {"max_body": "1KiB"}`))
	mustParse(t, second(`"name": "s", "scope": "r", "match": {"path": {"prefix": "/s"}}, "principal": "anonymous", "mode": "off"`))
	mustParse(t, second(`"name": "s", "match": {"methods": ["GET"], "path": {"prefix": "/r"}}`))
}
