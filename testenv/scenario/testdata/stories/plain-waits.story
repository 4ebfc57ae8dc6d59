story: Without bodies in the fingerprint: a concurrent request waits
rules: plain
mode: both

upstream: holds
a: POST /payments key=k1 body=x
backend ran: 1
b: as a
wait 50ms
b waits
upstream answers a: 200 body=ok
b sees: 200 replayed body=ok
backend ran: 1
