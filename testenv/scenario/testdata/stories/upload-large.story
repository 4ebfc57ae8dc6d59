story: A body larger than Envoy buffers waits for its claim, and then passes whole
rules: fingerprints

upstream: 201 body=done
bridge claim: delays 300ms once
a: POST /digest key=k1 size=3000000 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:"
a sees: 201 created
backend saw a: size=3000000
bridge claim: delays 300ms once
b: as a
b sees: 201 replayed
c: POST /prefix key=k2 size=3000000 h2
c sees: 201 created
backend saw c: size=3000000
backend ran: 2
