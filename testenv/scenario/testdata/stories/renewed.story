story: The lease is renewed while upstream works
rules: main
runs: core harness

upstream: holds
a: POST /reports key=k1 body={"a":1}
backend ran: 1
wait 1900ms
a leaves
bridge is quiet
# 4.3s from the renewal after a third of the lease; 3s would be the claim's own.
b: as a
b sees: 409 outcome-unknown retry-after=4
backend ran: 1
stats: operations=4
