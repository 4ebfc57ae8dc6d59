story: An answer without a body needs no body to end
rules: main
mode: both

upstream: 204 x-a=1
a: POST /orders key=k1
a sees: 204 created x-a=1 size=0
b: as a
b sees: 204 replayed x-a=1 size=0
c: POST /orders key=k2 h2
c sees: 204 created
d: as c
d sees: 204 replayed
backend ran: 2
