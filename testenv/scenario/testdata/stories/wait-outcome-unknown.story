story: Who waits for a request whose upstream breaks is told that nobody knows
rules: main

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
b: as a
wait 50ms
upstream resets a
a sees: 503 outcome-unknown
b sees: 409 outcome-unknown retry-after=*
backend ran: 1
