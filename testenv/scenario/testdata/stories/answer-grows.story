story: An answer that turns out too large in its middle goes on as a stream
rules: main
mode: on

upstream: holds
a: POST /orders key=k1 body={"a":1}
upstream begins a: 200
upstream sends a: size=1000
wait 30ms
a waits
upstream sends a: size=26
wait 30ms
upstream ends a: body=!
a sees: 200 created has=!
b: as a
b sees: 409 response-not-kept
backend ran: 1
