story: A claim without an answer: reject says 503, and gives back what it may have been granted
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: swallows | crawls 350ms | half | too-large | cut

bridge claim: {fault}
a: POST /orders key=k1 body={"a":1}
a sees: 503 unavailable retry-after=1 within=620ms
backend ran: 0
bridge: answers
bridge is quiet
b: as a
b sees: 200 created
c: as a
c sees: 200 replayed
backend ran: 1
stats: unavailable=1
