story: An answer whose record is not acknowledged goes out marked, and is recorded later
rules: main
mode: on
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: swallows | half | too-large

bridge complete: {fault}
upstream: 201 body=done
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=done idempotency-recorded=pending within=620ms
bridge: answers
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
stats: answer_unconfirmed=1
