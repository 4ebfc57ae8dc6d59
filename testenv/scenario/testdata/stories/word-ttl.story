story: Upstream's word on the life of its result stands above the rule's, and the client does not see it
rules: answers
runs: core harness
each TTL: 500 | 99999999 | soon
envoy: 500

upstream: 201 body=done idempotency-ttl={TTL}
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=done !idempotency-ttl
wait 10ms
b: as a
b sees: 201 replayed body=done !idempotency-ttl
backend ran: 1
