story: A concurrent request is refused while the first one is under way
rules: main
mode: both

upstream: holds
a: POST /orders key=k1 body={"a":1}
backend ran: 1
b: as a
b sees: 409 in-flight retry-after=* has="retryable\":true" cache-control=no-store
# Another body is told so first.
on only: c: as a body={"a":2}
on only: c sees: 422 key-reused has="parts\":[\"body\"]" !retry-after
upstream answers a: 201 body=done
a sees: 201 created body=done
d: as a
d sees: 201 replayed body=done
backend ran: 1
on only: stats: in_flight=1 key_reused=1 replayed=1
off only: stats: in_flight=1 key_reused=0 replayed=1
