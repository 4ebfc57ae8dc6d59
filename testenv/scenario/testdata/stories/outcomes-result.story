story: A status that the rule takes for a result is recorded and replayed
rules: answers
each STATUS: 429 | 503 | 501 | 409
envoy: 503

upstream: {STATUS} body=said
a: POST /orders key=k1 body={"a":1}
a sees: {STATUS} created body=said
b: as a
b sees: {STATUS} replayed body=said
backend ran: 1
