story: Where the rule says so, a concurrent request waits for the result
rules: main
mode: both

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
b: as a
c: as a
wait 100ms
b waits
upstream answers a: 201 body=done
a sees: 201 created body=done
b sees: 201 replayed body=done within=800ms
c sees: 201 replayed body=done
backend ran: 1
