story: An issued key replays where its rule replays
rules: main
mode: both

on only: i: POST /idempotency-keys body={"scope":"refunds"}
off only: i: POST /idempotency-keys path=/idempotency-keys?scope=refunds
i sees: 201 issued
upstream: 201 body=paid-back
a: POST /refunds key=@i body={"a":1}
a sees: 201 created
b: as a
b sees: 201 replayed body=paid-back
backend ran: 1
