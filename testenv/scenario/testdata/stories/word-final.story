story: The backend's word decides over the status: final
rules: main
mode: both

upstream: 503 body=sold-out idempotency-outcome=final
a: POST /orders key=k1 body={"a":1}
a sees: 503 created body=sold-out !idempotency-outcome
b: as a
b sees: 503 replayed body=sold-out
backend ran: 1
