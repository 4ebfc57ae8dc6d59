story: A refusal of another gateway passes, is not recorded, and frees the key
rules: answers
each CODE: in-flight | key-reused | response-not-kept | unavailable
envoy: in-flight

upstream: 409 body=refused idempotency-status={CODE}
a: POST /orders key=k1 body={"a":1}
a sees: 409 {CODE} body=refused
upstream: 201 body=done idempotency-status=replayed
b: as a
b sees: 201 created body=done
c: as a
c sees: 201 replayed body=done
backend ran: 2
