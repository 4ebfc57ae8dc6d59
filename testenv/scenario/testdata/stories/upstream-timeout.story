story: An upstream that takes too long leaves the outcome unknown
rules: main
mode: both

upstream: holds
a: POST /orders key=k1 body={"a":1}
a sees: 504 outcome-unknown within=1100ms
b: as a
b sees: 409 outcome-unknown retry-after=*
backend ran: 1
stats: op_unknown=1
