story: An answer that comes before the claim's is recorded once the claim is known
rules: observe
mode: both

bridge claim: holds
upstream: 201 body=done
a: POST /orders key=k1 x-observed=yes body={"a":1}
a sees: 201 - body=done
bridge has: 1
bridge: answers
bridge lets go
wait 50ms
bridge is quiet
wait 50ms
b: POST /orders key=k1 body={"a":1}
b sees: 201 replayed body=done
backend ran: 1
