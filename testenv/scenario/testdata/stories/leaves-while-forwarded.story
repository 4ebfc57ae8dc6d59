story: A client that leaves while upstream works leaves the outcome unknown
rules: main
mode: both

upstream: holds
a: POST /uploads key=k1 open
a ends: body=x
backend ran: 1
a leaves
bridge is quiet
b: POST /uploads key=k1 body=x
b sees: 409 outcome-unknown
backend ran: 1
