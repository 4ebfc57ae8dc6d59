story: Without bodies in the fingerprint: an answer too large to be kept
rules: plain
mode: both

upstream: 200 size=5000
a: POST /orders key=k1 body=x
a sees: 200 created size=5000
b: as a
b sees: 409 response-not-kept
backend ran: 1
