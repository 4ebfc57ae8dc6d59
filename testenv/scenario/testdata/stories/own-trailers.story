story: Nobody but the gateway speaks in its name, in trailers either
rules: main
mode: both

upstream: 200 body=ok trailer.x-sum=1 trailer.idempotency-outcome=not-executed trailer.idempotency-ttl=1 trailer.idempotency-status=replayed
a: POST /orders key=k1 body={"a":1} h2
a sees: 200 created body=ok
b: as a
b sees: 409 response-not-kept
backend ran: 1
