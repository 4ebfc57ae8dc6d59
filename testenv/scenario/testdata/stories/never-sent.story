story: A request that never reached upstream frees its key
rules: main
mode: both

upstream: refuses
a: POST /orders key=k1 body={"a":1}
a sees: 503 released
backend ran: 0
upstream: 201 body=done
b: as a
b sees: 201 created
backend saw b: idempotency-attempt=1
backend ran: 1
stats: op_released=1 op_completed=1
