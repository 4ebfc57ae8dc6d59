story: An answer in parts is held until it is recorded, and kept whole
rules: main
mode: on

upstream: holds
a: POST /orders key=k1 body={"a":1}
upstream begins a: 201 x-a=1
upstream sends a: body=one,
wait 30ms
a waits
upstream sends a: body=two,
upstream ends a: body=three
a sees: 201 created body=one,two,three x-a=1
b: as a
b sees: 201 replayed body=one,two,three x-a=1
backend ran: 1
