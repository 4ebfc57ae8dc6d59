story: No key is issued while the store is away
rules: main
each fault: loses | garbage | half
envoy: garbage

bridge issue: {fault}
on only: i: POST /idempotency-keys body={"scope":"checkout"}
off only: i: POST /idempotency-keys path=/idempotency-keys?scope=checkout
i sees: 503 unavailable retry-after=1 within=700ms
bridge: answers
j: as i
j sees: 201 issued
backend ran: 0
