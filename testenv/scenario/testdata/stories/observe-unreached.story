story: What is observed ends its claim as the request ended
rules: observe
mode: both

upstream: resets
a: POST /orders key=k1 x-observed=yes body={"a":1}
a sees: 503 -
wait 50ms
bridge is quiet
b: POST /orders key=k1 body={"a":1}
b sees: 409 outcome-unknown
backend ran: 1
upstream: refuses
c: POST /orders key=k2 x-observed=yes body={"a":1}
c sees: 503 -
wait 50ms
bridge is quiet
upstream: holds
d: POST /orders key=k2 body={"a":1}
backend ran: 2
upstream answers d: 201 body=done
d sees: 201 created body=done
e: POST /orders key=k3 x-observed=yes body={"a":1}
backend ran: 3
wait 50ms
e leaves
wait 50ms
bridge is quiet
f: POST /orders key=k3 body={"a":1}
f sees: 409 outcome-unknown
# An answer that breaks off has been executed.
g: POST /orders key=k4 x-observed=yes body={"a":1}
backend ran: 4
upstream begins g: 200
upstream sends g: body=half
wait 50ms
upstream resets g
g is cut
wait 50ms
bridge is quiet
h: POST /orders key=k4 body={"a":1}
h sees: 409 response-not-kept has="original_status\":200"
backend ran: 4
