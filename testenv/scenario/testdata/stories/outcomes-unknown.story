story: A status that the rule takes for unknown holds the key, under hold beyond the lease
rules: answers
each STATUS: 400 | 505 | 502
envoy: 400

upstream: {STATUS} body=perhaps
a: POST /orders key=k1 body={"a":1}
a sees: {STATUS} created body=perhaps
upstream: 201 body=done
b: as a
b sees: 409 outcome-unknown
backend ran: 1
