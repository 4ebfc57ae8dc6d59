story: A release that is not acknowledged is repeated until it is
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | unstamped | fails | busy | resets
envoy: half | cut

bridge release: {fault}
upstream: 429 body=later
a: POST /uploads key=k1 body={"a":1}
a sees: 429 created body=later idempotency-recorded=pending within=620ms
bridge: answers
bridge is quiet
upstream: 201 body=done
b: as a
b sees: 201 created body=done
backend ran: 2
