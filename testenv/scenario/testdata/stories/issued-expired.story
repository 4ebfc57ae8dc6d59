story: An issued key past its life is refused
rules: main
runs: core harness

on only: i: POST /idempotency-keys body={"scope":"checkout"}
off only: i: POST /idempotency-keys path=/idempotency-keys?scope=checkout
i sees: 201 issued
wait 31s
a: POST /checkout key=@i body={"a":1}
a sees: 410 key-expired has="retryable\":false"
backend ran: 0
