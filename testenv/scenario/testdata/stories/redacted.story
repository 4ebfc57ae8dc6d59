story: The first client gets the whole answer, a repeat gets null for what the rule keeps out of records
rules: redacted

upstream: 201 content-type=application/json etag=e1 idempotency-redacted=forged body={"id":7,"card":{"number":"4711","brand":"x"},"pin":42}
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body={"id":7,"card":{"number":"4711","brand":"x"},"pin":42} etag=e1 !idempotency-redacted
b: as a
b sees: 201 replayed body={"id":7,"card":{"number":null,"brand":"x"},"pin":null} idempotency-redacted=true !etag
backend ran: 1

upstream: 201 content-type=text/plain body=pin=42
d: POST /orders key=k2 body={"a":1}
d sees: 201 created body=pin=42
e: as d
e sees: 409 response-not-kept
backend ran: 2
stats: replayed=1 result_dropped=1
