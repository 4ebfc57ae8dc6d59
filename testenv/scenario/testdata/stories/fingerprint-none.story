story: A body that is not compared passes, however large it is
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /none key=k1 size=70000
a sees: 201 created
backend saw a: size=70000
b: POST /none key=k1 body=other
b sees: 201 replayed
c: POST /none key=k2 open
c sends: size=5200
c ends: size=70000
c sees: 201 created
backend saw c: size=75200
backend ran: 2
