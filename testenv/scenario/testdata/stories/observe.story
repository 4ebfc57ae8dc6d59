story: A rule that observes changes nothing, and those that enforce see its claims and results
rules: observe
mode: both

upstream: 201 body=done idempotency-status=released idempotency-outcome=final
a: POST /orders key=k1 x-observed=yes body={"a":1} idempotency-fence=9 x-envoy-retry-on=5xx
a sees: 201 released body=done idempotency-outcome=final !idempotent-replayed
backend saw a: idempotency-fence=9 !idempotency-gateway !idempotency-attempt body={"a":1}
wait 50ms
bridge is quiet
wait 50ms
# A repeat runs again, and is told apart in numbers only.
b: as a
b sees: 201 released body=done
backend ran: 2
# One that is enforced gets the recorded answer.
upstream: 201 body=other
c: POST /orders key=k1 body={"a":1}
c sees: 201 replayed body=done
backend ran: 2
stats: observed=2 created=0 replayed=1

# A concurrent request that is enforced sees the claim of one that is observed.
upstream: holds
d: POST /orders key=k2 x-observed=yes body={"a":1}
backend ran: 3
wait 50ms
e: POST /orders key=k2 body={"a":1}
e sees: 409 in-flight
upstream answers d: 201 body=late
d sees: 201 - body=late
wait 50ms
bridge is quiet
wait 50ms
f: as e
f sees: 201 replayed body=late
# And the other way round: what is observed while another runs counts and runs.
upstream: holds
g: POST /orders key=k3 body={"a":1}
backend ran: 4
h: POST /orders key=k3 x-observed=yes body={"a":1}
backend ran: 5
upstream answers h: 201 body=second
h sees: 201 - body=second
upstream answers g: 201 body=first
g sees: 201 created body=first
i: POST /orders key=k3 body={"a":1}
i sees: 201 replayed body=first
# Nothing is refused.
upstream: 200 body=ok
j: POST /orders x-observed=yes body={"a":1}
j sees: 200 - body=ok
k: POST /orders key=a,b x-observed=yes body={"a":1}
k sees: 200 - body=ok
l: POST /orders key=k4 user= x-observed=yes body={"a":1}
l sees: 200 - body=ok
m: POST /orders key=k4 x-observed=yes size=5000
m sees: 200 - body=ok
backend ran: 9
