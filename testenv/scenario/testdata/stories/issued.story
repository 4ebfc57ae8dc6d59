story: A key of the gateway's own is good for one request of one caller
rules: main
mode: both

on only: i: POST /idempotency-keys body={"scope":"checkout"}
off only: i: POST /idempotency-keys path=/idempotency-keys?scope=checkout
i sees: 201 issued cache-control=no-store has="expires_at"
upstream: 201 body=bought
a: POST /checkout key=@i user=eve body={"a":1}
a sees: 403 key-foreign has="retryable\":false"
b: POST /refunds key=@i body={"a":1}
b sees: 403 key-foreign
c: POST /checkout key=@i body={"a":1}
c sees: 201 created body=bought
d: as c
d sees: 409 key-used has="original_status\":201" !idempotent-replayed
e: POST /checkout key=made-up body={"a":1}
e sees: 400 key-not-issued
on only: f: POST /idempotency-keys body={"scope":"orders"}
off only: f: POST /idempotency-keys path=/idempotency-keys?scope=orders
f sees: 400 scope-unknown
on only: g: POST /idempotency-keys user= body={"scope":"checkout"}
off only: g: POST /idempotency-keys path=/idempotency-keys?scope=checkout user=
g sees: 401 principal-missing
backend ran: 1
stats: issued=1 key_foreign=2 key_used=1 key_not_issued=1
