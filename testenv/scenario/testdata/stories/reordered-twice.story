story: The second try is answered before the first one
rules: main

bridge claim: holds
upstream: 201 body=done
a: POST /orders key=k1 body={"a":1}
bridge has: 2
bridge: answers
bridge lets go backwards
a sees: 201 created
b: as a
b sees: 201 replayed
backend ran: 1
