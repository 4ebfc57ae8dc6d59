story: Without the flag a body is captured as it passes
rules: plain
mode: off

upstream: holds
a: POST /orders key=k1 body=x
upstream begins a: 201 x-a=1
upstream sends a: body=one,
wait 20ms
b: as a
b sees: 409 in-flight
upstream ends a: body=two
a sees: 201 created body=one,two x-a=1
bridge is quiet
c: as a
c sees: 201 replayed body=one,two x-a=1
# One that grows over its bound passes as well.
d: POST /orders key=k2 body=x
upstream begins d: 200
upstream sends d: size=1000
upstream sends d: size=1000
upstream ends d: body=end
d sees: 200 created
bridge is quiet
e: as d
e sees: 409 response-not-kept has="original_status\":200"
backend ran: 2
