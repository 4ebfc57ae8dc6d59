story: Without bodies in the fingerprint: a repeat gets the recorded answer
rules: plain
mode: both

upstream: 201 body=done x-a=1 x-a=2
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=done x-a=1,2 !idempotency-recorded
backend saw a: body={"a":1}
b: as a body={"a":2}
b sees: 201 replayed body=done
backend ran: 1
