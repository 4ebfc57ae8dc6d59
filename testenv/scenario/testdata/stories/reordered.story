story: Answers of the bridge in another order than the batches
rules: main

bridge claim: holds
upstream: 201 body=one
a: POST /orders key=k1 body={"a":1}
bridge has: 1
b: POST /orders key=k2 body={"a":2}
bridge has: 2
c: POST /orders key=k1 body={"a":1}
bridge has: 3
bridge: answers
bridge lets go backwards
c sees: 409 in-flight
b sees: 201 created
a sees: 201 created
d: as a
d sees: 201 replayed
backend ran: 2
