story: Above max_body the first bytes and the length stand for the body, and the rest streams through
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /prefix key=k1 size=70000
a sees: 201 created
backend saw a: size=70000
b: as a
b sees: 201 replayed
c: as a size=70001
c sees: 422 key-reused has="parts\":[\"body\"]"
d: POST /prefix key=k2 open
d ends: size=70000
d sees: 413 too-large has="needs a Content-Length"
backend ran: 1
