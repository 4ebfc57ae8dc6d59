story: Without bodies in the fingerprint: Envoy has no bridge to send to
rules: plain
mode: both

bridge: absent
upstream: 200 body=ok
a: POST /uploads key=k1 body=x
a sees: 200 unprotected idempotency-recorded=pending body=ok within=100ms
h: POST /uploads key=k2 body=x h2
h sees: 200 unprotected idempotency-recorded=pending body=ok within=100ms
bridge: answers
wait 500ms
b: as a
b sees: 200 replayed body=ok
c: as h
c sees: 200 replayed body=ok
backend ran: 2
