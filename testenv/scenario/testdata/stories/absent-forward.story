story: Envoy has no bridge to send to, and says so without a callback
rules: main

bridge: absent
a: POST /uploads key=k1 body={"a":1}
a sees: 200 unprotected idempotency-recorded=pending within=100ms
h: POST /uploads key=k2 body={"a":1} h2
h sees: 200 unprotected idempotency-recorded=pending within=100ms
n: POST /uploads key=k3
n sees: 200 unprotected idempotency-recorded=pending within=100ms
backend ran: 3
backend saw a: body={"a":1}
backend saw h: body={"a":1}
bridge: answers
wait 500ms
b: as a
b sees: 200 replayed
c: as h
c sees: 200 replayed
backend ran: 3
