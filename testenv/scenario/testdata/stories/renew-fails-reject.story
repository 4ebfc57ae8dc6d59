story: A renewal without an answer disturbs nobody
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: half

bridge renew: {fault}
upstream: 201 body=done after=1800ms
a: POST /reports key=k1 body={"a":1}
a sees: 201 created body=done within=1900ms
bridge: answers
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
on only: stats: operations=3
