story: A client that leaves in the middle of a large answer has had it executed
rules: main
mode: both

upstream: holds
a: POST /orders key=k1 body={"a":1}
upstream begins a: 200
upstream sends a: size=2000
wait 50ms
a leaves
bridge is quiet
b: as a
b sees: 409 response-not-kept
backend ran: 1
