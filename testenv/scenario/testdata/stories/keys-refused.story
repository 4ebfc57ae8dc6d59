story: A key that is missing or cannot be one is refused before the store is asked
rules: main

a: POST /orders body={"a":1}
a sees: 400 key-missing content-type=application/problem+json
b: POST /orders idempotency-key=k1 idempotency-key=k2 body={"a":1}
b sees: 400 key-invalid has="retryable\":false"
c: POST /orders key="k1, k2" body={"a":1}
c sees: 400 key-invalid
d: POST /orders key="k 1" body={"a":1}
d sees: 400 key-invalid
e: POST /orders key=k1 user= body={"a":1}
e sees: 401 principal-missing
l: POST /orders key=kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk body={"a":1}
l sees: 400 key-invalid
p: POST /orders key=k1 x-user-id=ada x-user-id=eve body={"a":1}
p sees: 401 principal-missing
stats: callouts=0
# As the draft writes it, and bare.
f: POST /orders key="\"k1\"" body={"a":1}
f sees: 200 created
g: POST /orders key=k1 body={"a":1}
g sees: 200 replayed
backend ran: 1
stats: key_refused=5 principal_missing=2 callouts=2
