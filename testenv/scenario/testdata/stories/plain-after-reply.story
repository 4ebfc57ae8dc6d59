story: Without bodies in the fingerprint: recorded after the reply
rules: plain
mode: both

upstream: 201 body=done
a: POST /notes key=k1 body=x
a sees: 201 created body=done
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
