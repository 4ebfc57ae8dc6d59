story: A request forwarded while the store is away is recorded when it returns
rules: main

bridge: refuses
upstream: 201 body=done
a: POST /uploads key=k1 body=x
a sees: 201 unprotected body=done idempotency-recorded=pending
b: as a
b sees: 201 unprotected
backend ran: 2
bridge: answers
wait 800ms
c: as a
c sees: 201 replayed
backend ran: 2
