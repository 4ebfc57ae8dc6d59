story: One key cannot stand for two requests
rules: main

upstream: 201 body=done
a: POST /orders key=k1 body={"a":1,"b":[1,2]}
a sees: 201 created
b: as a body={"b":[1,2],"a":1}
b sees: 201 replayed
c: as a body={"b":[2,1],"a":1}
on only: c sees: 422 key-reused has="parts\":[\"body\"]" has="retryable\":false" !retry-after
off only: c sees: 201 replayed
d: PUT /orders key=k1 body={"a":1,"b":[1,2]}
d sees: 422 key-reused has="parts\":[\"method\"]"
e: as a path=/orders/2
e sees: 422 key-reused has="parts\":[\"target\"]"
# Keys belong to a caller.
f: as c user=eve
f sees: 201 created
backend ran: 2
