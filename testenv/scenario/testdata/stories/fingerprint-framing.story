story: How a body is framed, cut and carried is no part of what it asks for
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /json key=k1 body={"amount":5,"to":"a"}
a sees: 201 created
b: POST /json key=k1 open
b sends: body={"amount":5,
wait 20ms
b ends: body="\"to\":\"a\"}"
b sees: 201 replayed
c: as a h2
c sees: 201 replayed
d: POST /json key=k1 open h2
d sends: body={
wait 20ms
d sends: body="\"amount\":5,\"to\":\"a\""
d ends: body=}
d sees: 201 replayed
e: POST /digest key=k2 size=5200 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:"
e sees: 201 created
f: as e h2
f sees: 201 replayed
g: POST /digest key=k2 content-digest="sha-256=:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=:" open h2
g sends: size=2600
g ends: size=2600
g sees: 201 replayed
h: POST /prefix key=k3 size=5200
h sees: 201 created
i: as h h2
i sees: 201 replayed
backend ran: 3
