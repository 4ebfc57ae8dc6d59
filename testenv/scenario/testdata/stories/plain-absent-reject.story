story: Without bodies in the fingerprint: Envoy has no bridge to send to
rules: plain
mode: both

bridge: absent
upstream: 200 body=ok
a: POST /orders key=k1 body=x
a sees: 503 unavailable retry-after=1 within=100ms
h: POST /orders key=k2 body=x h2
h sees: 503 unavailable retry-after=1 within=100ms
bridge: answers
wait 500ms
b: as a
b sees: 200 created body=ok
c: as h
c sees: 200 created body=ok
backend ran: 2
