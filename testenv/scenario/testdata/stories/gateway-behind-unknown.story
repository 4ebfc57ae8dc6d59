story: What another gateway does not know is not known here either
rules: answers
each CODE: outcome-unknown | misconfigured
envoy: outcome-unknown

upstream: 409 body=who-knows idempotency-status={CODE}
a: POST /orders key=k1 body={"a":1}
a sees: 409 {CODE} body=who-knows
b: as a
b sees: 409 outcome-unknown
backend ran: 1
