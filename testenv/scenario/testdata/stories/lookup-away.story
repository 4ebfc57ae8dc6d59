story: A question about a key is refused while the store is away, and hurts nobody
rules: main
mode: on
each fault: loses | swallows | garbage | fails
envoy: loses

upstream: 201 body=done
a: POST /orders key=k1 body={"a":1}
a sees: 201 created
bridge get: {fault}
b: GET /idempotency-keys path=/idempotency-keys/k1?scope=orders
b sees: 503 unavailable within=1500ms
bridge: answers
c: as b
c sees: 200 - has="\"state\":\"completed\""
backend ran: 1
