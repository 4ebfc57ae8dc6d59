story: An unknown outcome that is not acknowledged is told until it is
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: swallows | half | too-large

bridge unknown: {fault}
upstream: resets
a: POST /orders key=k1 body={"a":1}
a sees: 503 outcome-unknown idempotency-recorded=pending within=620ms
bridge: answers
bridge is quiet
b: as a
b sees: 409 outcome-unknown
backend ran: 1
