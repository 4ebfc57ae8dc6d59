story: The backend's word decides over the status: not executed
rules: main
mode: both

upstream: 409 body=stale idempotency-outcome=not-executed
a: POST /orders key=k1 body={"a":1}
a sees: 409 created body=stale !idempotency-outcome
upstream: 201 body=done
b: as a
b sees: 201 created body=done
backend ran: 2
