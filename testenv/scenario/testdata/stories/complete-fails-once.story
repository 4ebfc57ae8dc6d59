story: A completion whose first try fails is repeated before the answer goes out
rules: main
mode: on
each fault: loses | swallows | garbage | half | cut | too-large | unstamped | busy | resets
envoy: swallows | half

bridge complete: {fault} once
upstream: 201 body=done
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=done !idempotency-recorded within=620ms
b: as a
b sees: 201 replayed body=done
backend ran: 1
