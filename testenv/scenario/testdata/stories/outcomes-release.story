story: A status that the rule takes for "not executed" frees the key
rules: answers
each STATUS: 404 | 500 | 401
envoy: 500

upstream: {STATUS} body=no
a: POST /orders key=k1 body={"a":1}
a sees: {STATUS} created body=no
upstream: 201 body=done
b: as a
b sees: 201 created body=done
backend ran: 2
