story: A claim without an answer: forward runs the request, marked, and records it when it can
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | too-large | unstamped | fails | busy | resets
envoy: swallows | half | cut

bridge claim: {fault}
upstream: 201 body=done
a: POST /uploads key=k1 body=x
a sees: 201 unprotected body=done within=1300ms
backend saw a: idempotency-status=unprotected !idempotency-fence
bridge: answers
bridge is quiet
b: as a
b sees: 201 replayed body=done
backend ran: 1
stats: failure_mode_allowed=1
