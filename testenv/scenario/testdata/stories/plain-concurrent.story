story: Without bodies in the fingerprint: a concurrent request is refused
rules: plain
mode: both

upstream: holds
a: POST /orders key=k1 body=x
backend ran: 1
b: as a
b sees: 409 in-flight
upstream answers a: 200
a sees: 200 created
backend ran: 1
