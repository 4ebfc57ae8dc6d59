story: A request too large to be compared is refused, and its key is not consumed
rules: main
mode: on

a: POST /orders key=k1 size=65537
a sees: 413 too-large
b: POST /orders key=k1 open
b sends: size=40000
b ends: size=30000
b sees: 413 too-large
backend ran: 0
stats: too_large=2 callouts=0
c: POST /orders key=k1 size=65536
c sees: 200 created
backend ran: 1
