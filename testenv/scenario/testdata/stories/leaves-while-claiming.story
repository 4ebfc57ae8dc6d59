story: A client that leaves while its claim is in the air frees the key
rules: main

bridge claim: holds
a: POST /orders key=k1 body={"a":1}
bridge has: 1
a leaves
wait 20ms
bridge: answers
bridge lets go
bridge is quiet
b: as a
b sees: 200 created
backend ran: 1
