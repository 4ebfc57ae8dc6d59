story: An answer that is cut is no answer
rules: main
mode: on

upstream: half 201 body=receipt
a: POST /uploads key=k1 body=x
a sees: 502
b: as a
b sees: 409 outcome-unknown
c: POST /uploads key=k2 body=x h2
c sees: 503
d: as c
d sees: 409 outcome-unknown
# A large one has been passed on by then: it was executed.
upstream: holds
e: POST /uploads key=k3 body=x
upstream begins e: 200
upstream sends e: size=200000
wait 100ms
upstream resets e
e is cut
f: as e
f sees: 409 response-not-kept
backend ran: 3
