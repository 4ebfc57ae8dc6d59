story: The bridge cannot be reached any more when it is to be told of complete
rules: main

upstream: holds
a: POST /uploads key=k1 body={"a":1}
backend ran: 1
bridge: refuses
upstream answers a: 201 body=done
a sees: 201 created body=done idempotency-recorded=pending
bridge: answers
wait 500ms
upstream: 201 body=again
b: as a
b sees: 201 replayed body=done
backend ran: 1
