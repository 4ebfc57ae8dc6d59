story: An answer that is cut is no answer
rules: main

upstream: half 201 body=receipt
a: POST /uploads key=k1 body=x
a sees: 503
b: as a
b sees: 409 outcome-unknown
backend ran: 1
