story: The bridge cannot be reached any more when it is to be told that the outcome is unknown
rules: main

upstream: holds
a: POST /orders key=k1 body={"a":1}
backend ran: 1
bridge: refuses
upstream resets a
a sees: 503 outcome-unknown idempotency-recorded=pending
bridge: answers
wait 500ms
b: as a
b sees: 409 outcome-unknown
backend ran: 1
