story: A request for which there is no upstream frees its key
rules: main

upstream: absent
a: POST /orders key=k1 body={"a":1}
a sees: 503 released
upstream: 201 body=done
b: as a
b sees: 201 created
backend ran: 1
