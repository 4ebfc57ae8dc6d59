story: Without bodies in the fingerprint: an answer that is cut was executed
rules: plain
mode: both

# With the flag a short answer is held until it is whole: of one that breaks off
# nothing is known. Without it the execution is told before the body comes.
upstream: holds
a: POST /orders key=k1 body=x
upstream begins a: 201
upstream sends a: body=rec
wait 100ms
upstream resets a
on only: a sees: 502
off only: a is cut
bridge is quiet
b: as a
on only: b sees: 409 outcome-unknown
off only: b sees: 409 response-not-kept has="original_status\":201"
upstream: 201 body=receipt
c: POST /orders key=k2 body=x
c sees: 201 created body=receipt
bridge is quiet
d: as c
d sees: 201 replayed body=receipt
backend ran: 2
