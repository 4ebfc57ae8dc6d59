story: A client that prefers to wait waits as long as it says, and the rule at most
rules: main

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
b: as a prefer="wait=0"
b sees: 409 in-flight within=100ms retry-after=* idempotency-lease-until=* preference-applied="wait=0"
c: as a prefer="wait=100"
c sees: 409 in-flight within=700ms retry-after=* preference-applied="wait=1" link=*
upstream answers a: 201 body=done
a sees: 201 created body=done
d: as a prefer="wait=1"
d sees: 201 replayed body=done !preference-applied idempotency-first-seen=* idempotency-age=*
backend ran: 1
