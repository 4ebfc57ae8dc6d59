story: A body that comes in parts is one body
rules: main

upstream: 201 body=done
a: POST /orders key=k1 open
a sends: body={"a":
a sends: body=1
wait 20ms
backend ran: 0
a ends: body=}
a sees: 201 created
backend saw a: body={"a":1}
b: POST /orders key=k1 body={"a":1}
b sees: 201 replayed
backend ran: 1
