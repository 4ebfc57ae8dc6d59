story: Without bodies in the fingerprint: the backend broke off
rules: plain
mode: both

upstream: resets
a: POST /uploads key=k1 body=x
a sees: 503 outcome-unknown
b: as a
b sees: 409 outcome-unknown
upstream: refuses
c: POST /uploads key=k2 body=x
c sees: 503 released
upstream: 200 body=ok
d: as c
d sees: 200 created body=ok
backend ran: 2
