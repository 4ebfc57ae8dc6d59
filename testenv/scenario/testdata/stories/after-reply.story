story: A rule that records after the reply does not hold the answer
rules: main

bridge complete,executed: holds
upstream: holds
a: POST /notes key=k1 body=x
upstream begins a: 201
upstream sends a: body=one,
upstream ends a: body=two
a sees: 201 created body=one,two
bridge: answers
bridge lets go
bridge is quiet
b: as a
b sees: 201 replayed body=one,two
backend ran: 1
