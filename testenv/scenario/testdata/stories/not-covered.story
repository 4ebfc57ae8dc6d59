story: What no rule covers passes untouched
rules: main

upstream: 200 body=list
a: GET /orders
a sees: 200 - body=list
b: POST /elsewhere body=x
b sees: 200 - body=list
c: as b
c sees: 200 -
backend ran: 3
stats: covered=0 callouts=0
