story: The backend's word decides over the status: not to be kept
rules: main
mode: both

upstream: 201 body=secret idempotency-outcome=no-store
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=secret !idempotency-outcome
b: as a
b sees: 409 response-not-kept has="original_status\":201" !retry-after
backend ran: 1
