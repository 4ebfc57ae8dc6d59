story: Without bodies in the fingerprint: the client leaves while its claim is in the air
rules: plain
mode: both

bridge claim: holds
a: POST /orders key=k1 body=x
bridge has: 1
a leaves
wait 20ms
bridge: answers
bridge lets go
bridge is quiet
b: as a
b sees: 200 created
backend ran: 1
