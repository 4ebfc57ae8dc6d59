story: Without the flag the execution is told before the answer goes out, and until it is acknowledged
rules: plain
mode: off
each fault: loses | swallows | garbage | cut | unstamped | busy | resets
envoy: swallows | cut

bridge executed: {fault}
upstream: 201 body=done
a: POST /orders key=k1 body=x
a sees: 201 created body=done idempotency-recorded=pending within=620ms
bridge: answers
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
stats: answer_unconfirmed=1
