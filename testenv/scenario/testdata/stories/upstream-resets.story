story: An upstream that breaks off leaves the outcome unknown
rules: main
mode: both
each protocol: open | h2 open

upstream: resets
a: POST /uploads key=k1 {protocol}
a ends: body=x
a sees: 503 outcome-unknown
upstream: 201 body=done
b: POST /uploads key=k1 body=x
b sees: 409 outcome-unknown
backend ran: 1
stats: op_unknown=1
