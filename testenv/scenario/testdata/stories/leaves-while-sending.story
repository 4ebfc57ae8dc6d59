story: A client that leaves in its own body has asked for nothing
rules: main
mode: on

a: POST /orders key=k1 open
a sends: body={"a":
wait 20ms
a leaves
wait 20ms
stats: callouts=0
b: POST /orders key=k1 body={"a":1}
b sees: 200 created
backend ran: 1
