story: What comes while a batch is under way leaves together
rules: main
runs: core harness

bridge: delays 4ms
a: POST /orders key=k1 body={"a":1}
b: POST /orders key=b body={"a":1}
c: POST /orders key=c body={"a":1}
d: POST /orders key=d body={"a":1}
e: POST /orders key=e body={"a":1}
f: POST /orders key=f body={"a":1}
g: POST /orders key=g body={"a":1}
h: POST /orders key=h body={"a":1}
a sees: 200 created
b sees: 200 created
c sees: 200 created
d sees: 200 created
e sees: 200 created
f sees: 200 created
g sees: 200 created
h sees: 200 created

backend ran: 8
stats: operations=16
