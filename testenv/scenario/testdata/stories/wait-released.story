story: A first request that was released leaves its key to one of those that wait
rules: main
runs: core harness
mode: both

# In real time b's wait may end before its key is released, and then c goes next:
# wait-released-any.story.
upstream: holds
a: POST /payments key=k1 body={"a":1}
backend ran: 1
b: as a
wait 150ms
c: as a
wait 150ms
upstream answers a: 429
a sees: 429 created
backend ran: 2
upstream answers b: 201 body=done
b sees: 201 created body=done
c sees: 201 replayed body=done
backend ran: 2
