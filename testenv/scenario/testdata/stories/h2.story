story: The same over HTTP/2
rules: main
mode: both

upstream: 201 body=done
a: POST /orders key=k1 body={"a":1} h2
a sees: 201 created body=done
b: as a
b sees: 201 replayed body=done
c: as a body={"a":2}
on only: c sees: 422 key-reused
off only: c sees: 201 replayed body=done
backend ran: 1
