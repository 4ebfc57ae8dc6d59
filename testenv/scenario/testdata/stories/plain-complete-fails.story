story: Without the flag a result that is not acknowledged delays no answer, and is told until it is
rules: plain
mode: off
each fault: loses | swallows | garbage | half | cut | too-large | unstamped | busy | resets
envoy: half

bridge complete: {fault}
upstream: 201 body=done
a: POST /orders key=k1 body=x
a sees: 201 created body=done !idempotency-recorded within=300ms
wait 700ms
bridge: answers
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
