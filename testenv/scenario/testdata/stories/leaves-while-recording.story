story: A client that leaves while its answer is recorded finds it later
rules: main
mode: on

bridge complete: holds
upstream: 201 body=done
a: POST /orders key=k1 body={"a":1}
bridge has: 1
a waits
a leaves
wait 20ms
bridge: answers
bridge lets go
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
