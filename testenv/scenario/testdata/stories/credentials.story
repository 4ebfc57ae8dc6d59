story: Credentials and CORS lines are recorded only under a rule that names them
rules: answers

upstream: 201 body=done set-cookie=s=1 access-control-allow-origin=* etag=1
a: POST /orders key=k1 body={"a":1}
a sees: 201 created set-cookie=s=1 access-control-allow-origin=*
b: as a
b sees: 201 replayed !set-cookie !access-control-allow-origin etag=1
c: POST /cookies key=k1 body={"a":1}
c sees: 201 created set-cookie=s=1
d: as c
d sees: 201 replayed set-cookie=s=1 access-control-allow-origin=* etag=1
backend ran: 2
