story: Without its optional key a request passes untouched
rules: main

upstream: 201 body=done
a: POST /uploads body=raw
a sees: 201 - body=done
backend saw a: !idempotency-fence !idempotency-gateway
b: as a
b sees: 201 -
backend ran: 2
c: as a key=k1
c sees: 201 created
d: as c
d sees: 201 replayed
backend ran: 3
stats: op_completed=1
