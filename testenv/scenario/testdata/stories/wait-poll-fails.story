story: A long poll that comes to nothing at once costs nothing but claims
rules: main
each fault: busy | resets | garbage | unstamped | fails | empty | miscounts
envoy: busy | resets | garbage

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
bridge wait: {fault}
b: as a
wait 100ms
b waits
upstream answers a: 201 body=done
a sees: 201 created body=done
b sees: 201 replayed body=done
backend ran: 1
