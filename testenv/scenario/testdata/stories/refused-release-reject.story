story: The bridge cannot be reached any more when it is to be told of release
rules: main

upstream: holds
a: POST /orders key=k1 body={"a":1}
backend ran: 1
bridge: refuses
upstream answers a: 429 body=no
a sees: 429 created body=no idempotency-recorded=pending
bridge: answers
wait 500ms
upstream: 201 body=again
b: as a
b sees: 201 created
backend ran: 2
