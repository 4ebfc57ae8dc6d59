story: The bridge cannot be reached any more when it is to be told of executed
rules: main

upstream: holds
a: POST /uploads key=k1 body={"a":1}
backend ran: 1
bridge: refuses
upstream answers a: 201 size=1500
a sees: 201 created size=1500 idempotency-recorded=pending
bridge: answers
wait 500ms
upstream: 201 body=again
b: as a
b sees: 409 response-not-kept
backend ran: 1
