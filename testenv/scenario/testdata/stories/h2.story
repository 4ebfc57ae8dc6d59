story: The same over HTTP/2
rules: main

upstream: 201 body=done
a: POST /orders key=k1 body={"a":1} h2
a sees: 201 created body=done
b: as a
b sees: 201 replayed body=done
c: as a body={"a":2}
c sees: 422 key-reused
backend ran: 1
