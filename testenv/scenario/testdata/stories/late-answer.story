story: An answer that comes when its request has been refused is heard by nobody
rules: main

bridge claim: delays 700ms
a: POST /orders key=k1 body={"a":1}
a sees: 503 unavailable within=620ms
bridge: answers
bridge is quiet
b: as a
b sees: 200 created
wait 500ms
c: as a
c sees: 200 replayed
backend ran: 1
