story: A claim whose first try fails is tried again by the same owner
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: swallows | half | cut

bridge claim: {fault} once
a: POST /orders key=k1 body={"a":1}
a sees: 200 created !idempotency-recorded within=620ms
backend saw a: idempotency-attempt=1
b: as a
b sees: 200 replayed
backend ran: 1
