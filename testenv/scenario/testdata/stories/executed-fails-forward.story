story: A large answer whose record is not acknowledged goes out marked, and never runs again
rules: main
each fault: loses | swallows | delays 350ms | crawls 350ms | garbage | half | cut | empty | miscounts | unstamped | fails | busy | resets
envoy: half | cut

bridge executed: {fault}
upstream: 201 size=1500
a: POST /uploads key=k1 body={"a":1}
a sees: 201 created size=1500 idempotency-recorded=pending within=620ms
bridge: answers
bridge is quiet
b: as a
b sees: 409 response-not-kept
backend ran: 1
