story: Of those that wait one gets a key that was released, and the others its answer
rules: main
mode: both

upstream: holds
a: POST /patient key=k1 body={"a":1}
backend ran: 1
b: as a
c: as a
d: as a
wait 100ms
b waits
c waits
d waits
upstream: 201 body=done after=50ms
upstream answers a: 429
a sees: 429 created
b sees: 201 body=done
c sees: 201 body=done
d sees: 201 body=done
backend ran: 2
