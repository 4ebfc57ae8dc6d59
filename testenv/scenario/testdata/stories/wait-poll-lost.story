story: A long poll that is never answered costs its requests their wait
rules: main
runs: core harness
each fault: loses | swallows

upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
bridge wait: {fault}
b: as a
wait 100ms
b waits
upstream answers a: 201 body=done
a sees: 201 created body=done
b sees: 409 in-flight within=700ms retry-after=*
bridge: answers
c: as a
c sees: 201 replayed body=done
backend ran: 1
