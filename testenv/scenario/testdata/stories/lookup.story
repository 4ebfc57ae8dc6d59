story: A caller asks what is known of its own key, and learns nothing of others'
rules: main
mode: on

n: GET /idempotency-keys path=/idempotency-keys/k1?scope=orders
n sees: 404 key-unknown
upstream: holds
a: POST /orders key=k1 body={"a":1}
backend ran: 1
b: as n
b sees: 200 - has="\"state\":\"processing\"" cache-control=no-store !idempotent-replayed
upstream answers a: 201 body=done
a sees: 201 created body=done
c: as n
c sees: 200 - has="\"state\":\"completed\"" has="\"status\":201" has="\"ZG9uZQ==\"" cache-control=no-store
h: HEAD /idempotency-keys path=/idempotency-keys/k1?scope=orders
h sees: 200 - cache-control=no-store
e: as n user=eve
e sees: 404 key-unknown
f: GET /idempotency-keys path=/idempotency-keys/k1
f sees: 400 scope-unknown
g: as n user=
g sees: 401 principal-missing
# The question is not a claim.
r: as a
r sees: 201 replayed body=done
backend ran: 1
