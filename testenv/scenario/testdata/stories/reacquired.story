story: Where the backend checks fences, a lost request runs again after its lease
rules: main

upstream: resets
a: POST /orders key=k1 body={"a":1}
a sees: 503 outcome-unknown
b: as a
b sees: 409 outcome-unknown
wait 3400ms
upstream: 201 body=done
c: as a
c sees: 201 created body=done
backend saw c: idempotency-attempt=2
d: as a
d sees: 201 replayed body=done
backend ran: 2
stats: takeover=1
