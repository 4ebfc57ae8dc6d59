story: No connection to the bridge: forward runs the request at once
rules: main

bridge: refuses
upstream: 201 body=done
a: POST /uploads key=k1 body=x
a sees: 201 unprotected idempotency-recorded=pending within=100ms
bridge: answers
wait 500ms
b: as a
b sees: 201 replayed body=done
backend ran: 1
