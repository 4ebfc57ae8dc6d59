story: A client that leaves while it waits costs nothing
rules: main

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
b: as a
wait 50ms
b leaves
upstream answers a: 201 body=done
a sees: 201 created
c: as a
c sees: 201 replayed body=done
backend ran: 1
