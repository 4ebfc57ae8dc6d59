story: A rule that observes waits for nothing, whatever becomes of its claims
rules: observe
mode: both
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: loses | swallows

bridge: {fault}
upstream: 201 body=done
a: POST /orders key=k1 x-observed=yes body={"a":1}
a sees: 201 - body=done within=100ms
wait 1300ms
bridge: answers
wait 50ms
bridge is quiet
backend ran: 1
