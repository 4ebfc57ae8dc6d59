story: Without bodies in the fingerprint: the store is away
rules: plain
mode: both

bridge: loses
a: POST /orders key=k1 body=x
a sees: 503 unavailable within=620ms
b: POST /uploads key=k1 body=x
b sees: 200 unprotected within=1300ms
bridge: answers
bridge is quiet
c: as a
c sees: 200 created
d: as b
d sees: 200 replayed
backend ran: 2
