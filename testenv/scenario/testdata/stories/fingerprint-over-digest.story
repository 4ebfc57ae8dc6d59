story: Above max_body a Content-Digest stands for the body, which streams through
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /digest key=k1 size=5000 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:"
a sees: 201 created
backend saw a: size=5000
b: as a
b sees: 201 replayed
# Its length is not known before: the same request.
c: POST /digest key=k1 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:" open
c sends: size=3000
c ends: size=2000
c sees: 201 replayed
d: as a content-digest="sha-256=:PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0=:"
d sees: 422 key-reused has="parts\":[\"body\"]"
e: POST /digest key=k2 size=5000
e sees: 413 too-large has="needs a Content-Digest"
f: POST /digest key=k2 size=5000 content-digest="sha-256=:AAAA:"
f sees: 413 too-large
# What is read whole is compared by its own bytes.
g: POST /digest key=k2 body={"a":1} content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:"
g sees: 201 created
h: as g body={"a":2}
h sees: 422 key-reused
i: POST /digest key=k3 content-digest="sha-256=:Ln0sA6lQeuJl7PW1NWiFpTOTogKdJBOUmXJloaJa78Y=:" open
i sends: size=5200
i ends: size=70000
i sees: 201 created
backend saw i: size=75200
backend ran: 3
