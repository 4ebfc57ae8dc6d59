story: A wait ends at max_wait
rules: main

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
b: as a
b sees: 409 in-flight within=600ms retry-after=*
upstream answers a: 200 body=late
a sees: 200 created body=late
backend ran: 1
