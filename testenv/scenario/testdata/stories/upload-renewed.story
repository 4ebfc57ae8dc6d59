story: An upload that is slower than its lease keeps it
rules: fingerprints

upstream: 201 body=done
a: POST /digest key=k1 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:" open
a sends: size=5200
wait 2s
a sends: size=5200
wait 2s
b: POST /digest key=k1 size=5000 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:"
b sees: 409 in-flight
a ends: size=5200
a sees: 201 created
backend saw a: size=15600
c: as b
c sees: 201 replayed
backend ran: 1
