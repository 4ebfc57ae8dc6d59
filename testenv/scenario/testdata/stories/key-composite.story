story: Two members of the body make one key
rules: main
mode: on

upstream: 200 body=ok
a: POST /callbacks user= body={"type":"paid","id":"a:b"}
a sees: 200 created
b: as a
b sees: 200 replayed
c: as a body={"type":"paid:a","id":"b"}
c sees: 200 created
d: as a body={"type":"paid"}
d sees: 400
backend ran: 2
