package rules

import "time"

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
)

func ms(d time.Duration) int64 { return int64(d) }

// root is the whole configuration. Its order is the order of the documentation.
var root = &field{kind: kindObject, members: []*field{
	{
		name: "namespace", kind: kindString, required: true, min: 1, max: 128, form: formName,
		meaning: "Names this enforcement point; part of every record's name. Gateways that share their keys share it.",
	},
	{name: "bridge", kind: kindObject, required: true, meaning: "How the bridge is reached.", members: []*field{
		{
			name: "cluster", kind: kindString, required: true, min: 1, max: 256, form: formCluster,
			meaning: "Envoy cluster that batches are sent to.",
		},
		{
			name: "wait_cluster", kind: kindString, min: 1, max: 256, form: formCluster, def: "`bridge.cluster`",
			meaning: "Envoy cluster of the long polls of waiting requests.",
			loss:    "Waiting requests share connections and circuit breakers with claims.",
		},
		{
			name: "authority", kind: kindString, min: 1, max: 253, form: formCluster, def: "`oncewall`",
			meaning: "`:authority` of the calls.",
		},
		{
			name: "timeout", kind: kindDuration, min: ms(10 * time.Millisecond), max: ms(10 * time.Second), def: "`250ms`",
			meaning: "Budget of one operation, from when it was queued, its one retry included. Then the rule's `unavailable` decides.",
			loss:    "A store that needs longer counts as away.",
		},
	}},
	{name: "envoy", kind: kindObject, meaning: "What Envoy is set to. It is not read from Envoy: a false statement here is not noticed at load.", members: []*field{
		{
			name: "allow_on_headers_stop_iteration", kind: kindBool, def: "`false`",
			meaning: "Whether the filter's `allow_on_headers_stop_iteration` is set (Envoy 1.35 and later). Rules that read the request's body need it.",
		},
		{
			name: "buffer_limit", kind: kindSize, min: kib, max: 64 * mib, def: "`1MiB`",
			meaning: "The smallest of the listener's and the clusters' `per_connection_buffer_limit_bytes` and, for HTTP/2, `initial_stream_window_size`.",
			loss:    "If Envoy's real limit is smaller, bodies between the two stall until a timeout.",
		},
		{
			name: "route_metadata", kind: kindBool, def: "`false`",
			meaning: "Whether Envoy's routes may name a request's rule, or switch the filter off, in their metadata under `oncewall` ([by route](#by-route)). It costs two look-ups for each request.",
		},
	}},
	{name: "issue", kind: kindObject, def: "no keys are issued", meaning: "Where this gateway issues keys.", members: []*field{
		{
			name: "path", kind: kindString, min: 2, max: 1024, form: formPath, def: "`/idempotency-keys`",
			meaning: "Path of the POST that issues a key. It never reaches the backend.",
		},
	}},
	{name: "lookup", kind: kindObject, def: "at `issue.path`, where keys are issued", meaning: "Where a caller may ask about its own keys ([GET](api.md#through-the-gateway)).", members: []*field{
		{
			name: "path", kind: kindString, min: 2, max: 1024, form: formPath, def: "`issue.path`, else `/idempotency-keys`",
			meaning: "`GET` and `HEAD` of this path, `/` and a key never reach the backend.",
		},
	}},
	{name: "discovery", kind: kindObject, def: "nothing is told", meaning: "Where anybody may read what the rules ask of clients ([discovery](discovery.md)).", members: []*field{
		{
			name: "path", kind: kindString, min: 2, max: 1024, form: formPath, def: "`/.well-known/idempotency`",
			meaning: "`GET` and `HEAD` of this path never reach the backend.",
		},
	}},
	{
		name: "defaults", kind: kindObject, def: "none", members: shared(),
		meaning: "Blocks for the rules that do not state them. A block that a rule states replaces the default block as a whole.",
	},
	{name: "rules", kind: kindList, required: true, min: 1, max: 1000, meaning: "The policies, by route.", elem: rule},
}}

// rule is one entry of rules.
var rule = &field{kind: kindObject, members: append([]*field{
	{
		name: "name", kind: kindString, required: true, min: 1, max: 128, form: formName,
		meaning: "Unique. Shown in metrics and logs.",
	},
	{
		name: "scope", kind: kindString, min: 1, max: 128, form: formName, def: "`name`",
		meaning: "Stable name under which the rule's keys live. Rules with one scope share their keys; they must agree on the kind of `principal`, on `key.issued`, and on `fingerprint` but for a `max_body` above which nothing is compared.",
		loss:    "Renaming a rule without a scope forgets its keys: a retry of an old key runs again.",
	},
	{
		name: "previous_scopes", kind: kindList, min: 1, max: 8, def: "none",
		elem:    &field{kind: kindString, min: 1, max: 128, form: formName},
		meaning: "Scopes that the rule's keys had before, the newest first: a key is looked for under each of them, the oldest first, before it is new. Of no use any more once the keys have died ([renaming](security.md#renaming-a-rule)).",
		loss:    "Renaming a scope without it forgets the rule's keys: a retry of an old key runs again.",
	},
	{name: "match", kind: kindObject, required: true, meaning: "The requests of the rule. All that is stated must hold.", members: []*field{
		{
			name: "methods", kind: kindList, min: 1, max: 32, def: "every method but GET, HEAD, OPTIONS and TRACE",
			meaning: "Methods. Those of a request are compared without regard to case.",
			elem:    &field{kind: kindString, min: 1, max: 32, form: formMethod},
		},
		{
			name: "hosts", kind: kindList, min: 1, max: 64, def: "every host",
			meaning: "Hosts of the request's authority, whatever its port: names, or `*.` and the rest of a name, for one or more labels before it. Rules that name a request's host go before rules with a shorter `*.` or without hosts.",
			elem:    &field{kind: kindString, min: 1, max: 253, form: formHost},
		},
		{
			name: "headers", kind: kindList, min: 1, max: 8, def: "none",
			meaning: "Conditions on headers, all of which must hold. One with no more than `name` asks that the header is there. Of a header with several lines one must be as said; with mode `off`, all. A client can leave a header out: it chooses between rules by them.",
			elem: &field{kind: kindObject, members: []*field{
				{name: "name", kind: kindString, required: true, min: 1, max: 128, form: formHeader, meaning: "Header name."},
				{name: "exact", kind: kindString, min: 1, max: 1024, form: formText, meaning: "The whole value."},
				{name: "prefix", kind: kindString, min: 1, max: 1024, form: formText, meaning: "What the value begins with."},
				{name: "regexp", kind: kindString, min: 1, max: 1024, form: formText, meaning: "RE2 expression for the whole value."},
			}},
		},
		{name: "path", kind: kindObject, def: "required, unless `envoy.route_metadata` is set: then only a route names the rule", meaning: "Exactly one of the four ([which rule](#which-rule-a-request-meets)).", members: []*field{
			{
				name: "exact", kind: kindString, min: 1, max: 1024, form: formPath,
				meaning: "The whole path.",
			},
			{
				name: "prefix", kind: kindString, min: 1, max: 1024, form: formPath,
				meaning: "The path's first segments: `/payments` covers `/payments` and `/payments/1`, not `/payments2`.",
			},
			{
				name: "template", kind: kindString, min: 1, max: 1024, form: formPath,
				meaning: "The whole path, with `{name}` for any one segment: `/orders/{id}/items`.",
			},
			{
				name: "regexp", kind: kindString, min: 1, max: 1024, form: formText,
				meaning: "RE2 expression for the whole path, at most 500 instructions long; at most 32 in a file, those of `headers` included. Every other rule but a prefix goes before it. A path over 4 KiB is taken to match.",
			},
		}},
	}},
	{name: "key", kind: kindObject, def: "the header `idempotency-key`, required", meaning: "Where the idempotency key is.", members: []*field{
		{
			name: "from", kind: kindList, min: 1, max: 8, def: "`[{header: idempotency-key}]`",
			meaning: "Sources; the first that is present is taken. An entry has one of the places below ([keys](#keys)). A place that is there twice is `key-invalid`: none is chosen.",
			elem: &field{kind: kindObject, members: append(keyPlaces(), &field{
				name: "all", kind: kindList, min: 2, max: 8,
				meaning: "Several places, each as in `from`, that make one key together: their values joined by `:`, in which a `:` or `%` of a part is percent-encoded. Present only where all are.",
				elem:    &field{kind: kindObject, members: keyPlaces()},
			})},
		},
		{
			name: "required", kind: kindBool, def: "`true`",
			meaning: "`false` lets a request without a key through, unprotected.",
		},
		{
			name: "issued", kind: kindBool, def: "`false`",
			meaning: "`true` takes only keys that this gateway issued; needs `issue`.",
			loss:    "A client may choose a weak key; it harms only itself, since keys belong to a principal.",
		},
		{
			name: "max_length", kind: kindInteger, min: 1, max: 1024, def: "`255`",
			meaning: "Longest key in bytes; a longer one is `key-invalid`.",
		},
		{
			name: "min_length", kind: kindInteger, min: 1, max: 1024, def: "`1`",
			meaning: "Shortest key in bytes.",
		},
		{
			name: "alphabet", kind: kindString, min: 1, max: 128, form: formAlphabet, def: "every character of the source",
			meaning: "Characters that a key may have, as in a character class: `A-Za-z0-9_-`. Of a composite the joining `:` and the `%` of its encoding count too.",
		},
		{
			name: "format", kind: kindChoice, def: "`any`",
			meaning: "`uuid`: a UUID in its text form of 36 characters, of variant 10; its case does not count. Not for composites.",
			choices: []choice{{name: "any", value: formatAny}, {name: "uuid", value: formatUUID}},
		},
		{
			name: "uuid_versions", kind: kindList, min: 1, max: 8, def: "all of 1 to 8",
			meaning: "Versions of a UUID that are taken.",
			elem:    &field{kind: kindInteger, min: 1, max: 8},
		},
		{
			name: "min_entropy_bits", kind: kindInteger, min: 1, max: 512, def: "not judged",
			meaning: "Least estimate of a key's strength: its length times the Shannon entropy of its own bytes. A random UUID has about 135. It sees repetition and nothing else: a counter or a time scores by its length, `1700000000123` 22.",
		},
	}},
	{name: "fingerprint", kind: kindObject, def: "method, target and JSON body", meaning: "What a request asks for. The same key with another fingerprint is `key-reused`. Method and target are always part.", members: []*field{
		{
			name: "body", kind: kindChoice, def: "`json`",
			meaning: "How the body is compared ([what counts as the same](protocol.md#the-body)): `json` as canonical JSON, `form` as the fields of an `application/x-www-form-urlencoded` body, `multipart` as the parts of a `multipart/form-data` body, each as raw bytes where the body is none of its kind; `raw` byte by byte; `none` not at all: the result is then replayed to a request with another body. All but `none` need `envoy.allow_on_headers_stop_iteration`.",
			choices: []choice{
				{name: "json", value: int64(BodyJSON)}, {name: "form", value: int64(BodyForm)}, {name: "multipart", value: int64(BodyMultipart)},
				{name: "raw", value: int64(BodyRaw)}, {name: "none", value: int64(BodyNone)},
			},
		},
		{
			name: "max_body", kind: kindSize, min: 1, max: 16 * mib, def: "the smaller of `1MiB` and `envoy.buffer_limit`",
			meaning: "Largest request body that is read, at most `envoy.buffer_limit`. What happens to a larger one `over` says; with body `none` it passes.",
		},
		{
			name: "over", kind: kindChoice, def: "`reject`",
			meaning: "What happens to a body longer than `max_body`. `reject`: 413 `too-large`. `content_digest`: the request's `Content-Digest` (RFC 9530, sha-256 or sha-512) stands for the body, which passes as it comes; 413 without one. `prefix`: its first `max_body` bytes and its `Content-Length` stand for it, and the rest passes as it comes; 413 without a length. A key is then not looked for in the body.",
			loss:    "`content_digest` believes the client, `prefix` does not look at the rest: another body under the same key gets the first one's result.",
			choices: []choice{
				{name: "reject", value: int64(OverReject)}, {name: "content_digest", value: int64(OverContentDigest)}, {name: "prefix", value: int64(OverPrefix)},
			},
		},
		{
			name: "max_decoded_body", kind: kindSize, min: 1, max: 64 * mib, def: "`1MiB`",
			meaning: "A body with `Content-Encoding: gzip` or `deflate` is compared as what it holds, if that is no more than this: what a small body may cost to compare, in time and in memory. Above it, and in any other encoding, it is compared byte by byte together with the encoding's name.",
			loss:    "A larger body that the client compresses anew in another way counts as another.",
		},
		{
			name: "headers", kind: kindList, min: 0, max: 32, def: "none",
			meaning: "Headers that are part of what a request asks for.",
			loss:    "Two requests that differ in headers alone count as one.",
			elem:    &field{kind: kindString, min: 1, max: 128, form: formHeader},
		},
		{
			name: "ignore", kind: kindList, min: 0, max: 32, def: "none",
			meaning: "JSON pointers to members of the body that are not compared: `/client_time`. With `form` and `multipart`, `/` and the name of a field. What comes twice, or in another case, is not ignored.",
			loss:    "Two requests that differ there alone count as one.",
			elem:    &field{kind: kindString, min: 2, max: 256, form: formPointer},
		},
	}},
	{name: "durability", kind: kindObject, def: "what the store keeps by itself", meaning: "What must keep a claim before it is granted, and an answer's record before the answer is sent.", members: []*field{
		{
			name: "replicas", kind: kindInteger, min: 0, max: 5, def: "`0`",
			meaning: "Replicas of a Redis master that must have acknowledged; with fewer in time the store counts as away. It narrows the window in which a failover forgets, and does not close it ([Redis](redis.md)).",
			loss:    "A Redis failover may lose an acknowledged claim: a retry then runs again.",
		},
		{
			name: "ledger", kind: kindBool, def: "`false`", refuse: notServed + ": must be false", inert: "false",
			meaning: "Whether a database decides about claims.",
			loss:    "Lost or flushed Redis data forgets keys: a retry then runs again.",
		},
	}},
	{
		name: "mode", kind: kindChoice, def: "`enforce`",
		meaning: "`off` leaves the requests of the rule alone; it then needs no more than `name` and `match`, and is the way to except a longer path. It excepts a path only in a spelling that everyone reads alike: `//`, `;x` or an encoded slash in it leaves the request to the other rules. `observe` lets every request pass as it is and counts what `enforce` would have done ([rolling out](operations.md#rolling-out-a-rule)); it needs no `upstream_timeout` and no `unavailable`.",
		choices: []choice{
			{name: "enforce", value: int64(Enforce)}, {name: "off", value: int64(Off)},
			{name: "observe", value: int64(Observe)},
		},
	},
	{
		name: "enforce_percent", kind: kindInteger, min: 0, max: 100, def: "`0`",
		meaning: "With `observe`: the share of keys that is enforced all the same, chosen by a hash of scope, principal and key, so that every gateway chooses alike and a larger share holds the smaller one. Below 100 a request that would be refused before its key is known passes. Above 0 the rule needs all that an enforcing one does.",
		loss:    "The keys of an observing rule run as often as they are sent.",
	},
	{
		name: "lookup", kind: kindBool, def: "`true` where every source of `principal` names a caller, `false` with a constant or `anonymous` among them",
		meaning: "Whether the scope's keys may be asked about ([GET](api.md#through-the-gateway)); `false` in one rule is `false` for all with its scope. **The path of that question lies outside whatever keeps others from the rule's own path**: with a constant, `true` hands a result to anybody who reaches the gateway and knows, or guesses, a key.",
		loss:    "A caller cannot ask what became of its request.",
	},
	{
		name: "streaming", kind: kindBool, def: "`false`",
		meaning: "For calls of any length, gRPC streams among them: the request's body passes as it comes, the answer too once the store knows of the execution, and the claim is renewed every third of its lease for as long as the call lasts. Needs `upstream_timeout: 0s`, `fingerprint: {body: none}`, `record: {body: none}`, a key outside the body and a `recovery.lease` of at least 10s. Envoy's `stream_idle_timeout` still ends a call in which nothing moves.",
		loss:    "A call that the gateway's VM outlives no longer than its lease is not known to run.",
	},
	{name: "serialize_by", kind: kindObject, refuse: notServed},
}, shared()...)}

// shared returns the fields that a rule states or takes from defaults.
func shared() []*field {
	source := []*field{
		{
			name: "header", kind: kindString, min: 1, max: 128, form: formHeader,
			meaning: "Header that something before this filter sets and that no client can set; needs `trusted: true`.",
		},
		{name: "trusted", kind: kindBool, def: "`false`", meaning: "States that the header above is out of a client's reach."},
		{
			name: "jwt_claim", kind: kindString, min: 1, max: 256, form: formText,
			meaning: "Claim of a token that Envoy's jwt_authn has verified before this filter; dots lead into nested members, or it is a JSON pointer, for names with dots (`/https:~1~1id.example~1tenant`). Needs `issuer`.",
		},
		{name: "issuer", kind: kindString, min: 1, max: 512, form: formText, meaning: "The token's `iss` must be this."},
		{
			name: "payload", kind: kindString, min: 1, max: 128, form: formText, def: "`payload`",
			meaning: "jwt_authn's `payload_in_metadata`.",
		},
		{
			name: "const", kind: kindString, min: 1, max: 256, form: formText,
			meaning: "One principal for every request of the rule: for a route that only one party can call.",
		},
		{
			name: "peer_certificate", kind: kindChoice, def: "none",
			meaning: "What the client's certificate says: the first URI or the first DNS name of its subject alternative name, its subject, or the SHA-256 digest of the whole. The listener must verify certificates against a CA: Envoy does not tell a filter whether it did.",
			choices: []choice{
				{name: "uri_san", value: int64(PrincipalURISAN)}, {name: "dns_san", value: int64(PrincipalDNSSAN)},
				{name: "subject", value: int64(PrincipalSubject)}, {name: "sha256", value: int64(PrincipalDigest)},
			},
		},
		{
			name: "trust_domain", kind: kindString, min: 1, max: 253, form: formDomain,
			meaning: "With `uri_san`: the URI's host, of SPIFFE the trust domain, must be this. It is part of the principal in any case.",
		},
	}
	anonymous := &field{kind: kindChoice, choices: []choice{{name: "anonymous", value: 1}}}
	return []*field{
		{
			name: "principal", kind: kindObject, alt: anonymous,
			meaning: "Who a key belongs to: one of the sources below, or the word `anonymous`, under which whoever knows a key gets its result. Required of an enforcing rule.",
			members: append([]*field{{
				name: "from", kind: kindList, min: 1, max: 8,
				meaning: "The same as a list: the first source that is present ([principals](#principals)).",
				elem:    &field{kind: kindObject, members: source, alt: anonymous},
			}}, source...),
		},
		{name: "in_flight", kind: kindObject, def: "reject", meaning: "What a concurrent request gets.", members: []*field{
			{
				name: "action", kind: kindChoice, def: "`reject`", meaning: "`reject`: 409 at once. `wait`: the result when it comes.",
				choices: []choice{{name: "reject", value: int64(Reject)}, {name: "wait", value: int64(Wait)}},
			},
			{
				name: "max_wait", kind: kindDuration, min: ms(time.Millisecond), max: ms(5 * time.Minute),
				meaning: "Longest wait; required with `wait`. With `reject` it lets a client ask to wait by `Prefer: wait=N` (RFC 7240), which never exceeds it; without it that preference is ignored. It must be shorter than Envoy's `stream_idle_timeout`.",
			},
		}},
		{name: "completed", kind: kindObject, def: "replay for 24h", meaning: "What a retry of a completed request gets.", members: []*field{
			{
				name: "action", kind: kindChoice, def: "`replay`", meaning: "`replay`: the recorded result. `reject`: 409 `key-used`.",
				choices: []choice{{name: "replay", value: int64(Replay)}, {name: "reject", value: int64(Reject)}},
			},
			{
				name: "ttl", kind: kindDuration, min: ms(time.Second), max: ms(720 * time.Hour), def: "`24h`",
				meaning: "Life of a result.",
				loss:    "A retry that comes later runs again, unless a tombstone is left or the key is an issued one.",
			},
			{
				name: "tombstone_ttl", kind: kindDuration, min: 0, max: ms(8760 * time.Hour), def: "`0s`",
				meaning: "How long after that the key is still known and refused with `key-expired`.",
				loss:    "After `ttl` nothing is left of a client's key.",
			},
		}},
		{name: "record", kind: kindObject, def: "the whole answer up to 256KiB, before the reply", meaning: "What is kept of an answer.", members: []*field{
			{
				name: "max_body", kind: kindSize, min: 0, max: 16 * mib, def: "the smaller of `256KiB` and `envoy.buffer_limit`",
				meaning: "Largest response body that is kept, at most `envoy.buffer_limit`.",
				loss:    "A larger answer passes and is not kept: its retries get `response-not-kept`.",
			},
			{
				name: "when", kind: kindChoice, def: "`before_reply`",
				meaning: "`before_reply`: the store knows of the execution before the client hears of it. `after_reply`: the client does not wait; a crash in between leaves the outcome unknown, and under `reacquire` the request may run again.",
				choices: []choice{{name: "before_reply", value: int64(BeforeReply)}, {name: "after_reply", value: int64(AfterReply)}},
			},
			{
				name: "body", kind: kindChoice, def: "`full`",
				meaning: "`none` keeps only that the request was executed, with its status.",
				loss:    "Response bodies are stored.",
				choices: []choice{{name: "full", value: 1}, {name: "none", value: 0}},
			},
			{
				name: "drop_headers", kind: kindList, min: 0, max: 64, def: "none",
				meaning: "Response headers that are not recorded, beside the built-in list.",
				elem:    &field{kind: kindString, min: 1, max: 128, form: formHeader},
			},
			{
				name: "keep_headers", kind: kindList, min: 0, max: 32, def: "none",
				meaning: "Response headers that are recorded only on demand: `set-cookie`, `set-cookie2`, `www-authenticate`, `proxy-authenticate`, `authentication-info`, `proxy-authentication-info` and `access-control-*`. **A kept credential lies in the store and is handed to whoever repeats the request as the same principal, for `completed.ttl`**: a session cookie then outlives a logout, and under `anonymous` anyone who knows the key gets it. `access-control-*` lines belong to one origin and are for backends that answer CORS themselves with the same lines for all.",
				loss:    "A replay logs nobody in.",
				elem:    &field{kind: kindString, min: 1, max: 128, form: formHeader},
			},
			{
				name: "redact", kind: kindList, min: 0, max: 32, def: "none",
				meaning: "JSON pointers into the response's body. The first client gets the whole; `null` is recorded in place of these values, and a replay says so with `Idempotency-Redacted: true`. A pointer that leads nowhere is no fault. An answer whose body is not JSON, is compressed, or has a member on a pointer's path twice or in another case, is then not kept: its retries get `response-not-kept`.",
				loss:    "Every value of a response's body is stored.",
				elem:    &field{kind: kindString, min: 2, max: 256, form: formPointer},
			},
		}},
		outcomesField(),
		statusesField(),
		{
			name: "upstream_timeout", kind: kindDuration, min: 0, max: ms(time.Hour),
			meaning: "How long upstream may take. It replaces the route's timeout in both directions. Required of an enforcing rule. `0s`, no bound, only with `streaming: true`.",
		},
		{
			name: "envoy_retries", kind: kindChoice, def: "`off`",
			meaning: "`off` switches the route's retries off. `route` leaves them: they must be limited to `connect-failure` and `refused-stream`, or one claim runs more than once.",
			choices: []choice{{name: "off", value: int64(RetriesOff)}, {name: "route", value: int64(RetriesRoute)}},
		},
		{name: "recovery", kind: kindObject, meaning: "What may happen to a claim whose lease has ended without news. Required of an enforcing rule.", members: []*field{
			{
				name: "action", kind: kindChoice, required: true,
				meaning: "`hold`: the key stays refused until probe, operator or ttl. `probe`: the reconciler asks the backend; until it has an answer, as `hold`. `reacquire`: the next retry runs, with a higher fence; needs `backend_checks_fence`.",
				choices: []choice{
					{name: "hold", value: int64(Hold)}, {name: "probe", value: int64(Probe)}, {name: "reacquire", value: int64(Reacquire)},
				},
			},
			{
				name: "lease", kind: kindDuration, min: ms(time.Millisecond), max: ms(24 * time.Hour), def: "`60s`",
				meaning: "How long a claim is trusted without news. At least 2 x `bridge.timeout` + `upstream_timeout` + 500ms (clock skew) + 500ms (margin).",
				loss:    "For so long a request whose gateway died blocks its retries.",
			},
			{
				name: "max_attempts", kind: kindInteger, min: 1, max: 100, def: "`3`",
				meaning: "How often a key is granted before it is held.",
			},
			{
				name: "backend_checks_fence", kind: kindBool, def: "`false`",
				meaning: "States that the backend refuses a request whose `Idempotency-Fence` is lower than one it has seen for the key. If it does not, `reacquire` may run a request twice.",
			},
			{name: "compensate", kind: kindString, refuse: notServed},
		}},
		{
			name: "unavailable", kind: kindChoice,
			meaning: "What happens while the store is away. `reject`: 503. `local`: the request runs unprotected and marked if no other with its key has come by here meanwhile; the workers of one Envoy share a table of at most 65,536 keys, of which the bridge learns when it is back. Keys that were claimed or finished before are not known to it. `forward`: the request runs unprotected and is marked; every retry runs too, also of keys that were finished before. Required of an enforcing rule.",
			choices: []choice{
				{name: "reject", value: int64(UnavailableReject)}, {name: "forward", value: int64(UnavailableForward)},
				{name: "local", value: int64(UnavailableLocal)},
			},
		},
	}
}

// The values of key.format.
const (
	formatAny int64 = iota + 1
	formatUUID
)

// keyPlaces returns the places that a key, or a part of one, can be in.
func keyPlaces() []*field {
	return []*field{
		{
			name: "header", kind: kindString, min: 1, max: 128, form: formHeader,
			meaning: "Header name. Not `x-request-id`, which Envoy makes up anew for a retry.",
		},
		{
			name: "json", kind: kindList, min: 1, max: 8,
			meaning: "JSON pointer into the request's body, or a list of them, whose values are joined by `:`. Needs `envoy.allow_on_headers_stop_iteration`.",
			elem:    &field{kind: kindString, min: 2, max: 256, form: formPointer},
			alt:     &field{kind: kindString, min: 2, max: 256, form: formPointer},
		},
		{
			name: "form", kind: kindString, min: 1, max: 128, form: formText,
			meaning: "Field of a body of the type `application/x-www-form-urlencoded`; absent in any other. Needs `envoy.allow_on_headers_stop_iteration`.",
		},
		{name: "query", kind: kindString, min: 1, max: 128, form: formText, meaning: "Parameter of the query."},
		{name: "cookie", kind: kindString, min: 1, max: 128, form: formCookie, meaning: "Cookie. It names one action only where the client renews it for each."},
		{
			name: "path", kind: kindInteger, min: 1, max: 64,
			meaning: "Segment of the path: its number, from 1, or the name that `match.path.template` gives it.",
			alt:     &field{kind: kindString, min: 1, max: 128, form: formName},
		},
		{
			name: "jwt_claim", kind: kindString, min: 1, max: 256, form: formText,
			meaning: "Claim of a token that Envoy's jwt_authn has verified before this filter, `jti` say; dots lead into nested members, or it is a JSON pointer, for names with dots (`/https:~1~1id.example~1tenant`). Needs `issuer`. A client that fetches a new token for its retry sends another key.",
		},
		{name: "issuer", kind: kindString, min: 1, max: 512, form: formText, meaning: "The token's `iss` must be this; a claim of another is absent."},
		{
			name: "payload", kind: kindString, min: 1, max: 128, form: formText, def: "`payload`",
			meaning: "jwt_authn's `payload_in_metadata`.",
		},
	}
}
