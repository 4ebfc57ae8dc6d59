story: A replay says what is left of the life that upstream gave its result
rules: answers
runs: core harness

upstream: 201 body=done idempotency-ttl=500
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=done
wait 10ms
b: as a
b sees: 201 replayed idempotency-expires-in=499
backend ran: 1
