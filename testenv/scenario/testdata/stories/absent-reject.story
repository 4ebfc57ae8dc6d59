story: Envoy has no bridge to send to, and says so without a callback
rules: main

bridge: absent
a: POST /orders key=k1 body={"a":1}
a sees: 503 unavailable retry-after=1 within=100ms
h: POST /orders key=k2 body={"a":1} h2
h sees: 503 unavailable retry-after=1 within=100ms
n: POST /orders key=k3
n sees: 503 unavailable retry-after=1 within=100ms
backend ran: 0
bridge: answers
wait 500ms
b: as a
b sees: 200 created
c: as h
c sees: 200 created
backend ran: 2
