story: A rule that holds never runs a lost request again, also when its lease is over
rules: main

upstream: resets
a: POST /uploads key=k1 body=x
a sees: 503 outcome-unknown
upstream: 201 body=done
wait 3400ms
b: as a
b sees: 409 outcome-unknown
backend ran: 1
