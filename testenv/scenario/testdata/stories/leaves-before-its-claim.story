story: A claim that arrives after the release of its owner wins nothing
rules: main

bridge claim: crawls 200ms
a: POST /orders key=k1 body={"a":1}
wait 50ms
a leaves
wait 50ms
backend ran: 0
bridge: answers
wait 300ms
b: as a
b sees: 200 created
backend ran: 1
