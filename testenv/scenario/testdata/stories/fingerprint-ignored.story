story: Members that a rule ignores may differ; nothing else may
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /json key=k1 body={"client_time":1,"amount":5} x-currency=EUR
a sees: 201 created
b: as a body={"amount":5,"client_time":"2026-11-30"}
b sees: 201 replayed
c: as a body={"amount":5}
c sees: 201 replayed
# In another case too, some backends read that one.
d: as a body={"amount":5,"client_time":1,"Client_Time":1}
d sees: 422 key-reused has="parts\":[\"body\"]"
# Twice: there is no telling which one counts.
e: as a body={"amount":5,"client_time":1,"client_time":1}
e sees: 422 key-reused
f: as a body={"amount":6,"client_time":1} x-currency=USD
f sees: 422 key-reused has="parts\":[\"body\",\"headers\"]"
g: as a body=""
g sees: 422 key-reused has="parts\":[\"body\"]"
backend ran: 1
