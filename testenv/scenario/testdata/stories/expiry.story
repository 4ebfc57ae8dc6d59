story: A result lives as long as the rule says
rules: main

upstream: 201 body=one
a: POST /notes key=k1 body=x
a sees: 201 created body=one
bridge is quiet
b: as a
b sees: 201 replayed body=one idempotency-expires-in=*
wait 2200ms
upstream: 201 body=two
c: as a
c sees: 201 created body=two
backend ran: 2
