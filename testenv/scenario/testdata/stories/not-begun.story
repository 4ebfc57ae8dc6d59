story: A status that says that the backend did not begin frees the key
rules: main
each status: 401 | 403 | 407 | 408 | 421 | 425 | 429
envoy: 401 | 429

upstream: {status} body=no
a: POST /orders key=k1 body={"a":1}
a sees: {status} created body=no
upstream: 201 body=done
b: as a
b sees: 201 created body=done
backend saw b: idempotency-attempt=1
c: as a
c sees: 201 replayed body=done
backend ran: 2
