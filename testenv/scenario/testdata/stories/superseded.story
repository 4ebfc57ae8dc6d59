story: An owner whose record was lost is superseded, and its late result changes nothing
rules: main
mode: on
runs: core harness

bridge complete: loses
upstream: 201 body=one
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=one idempotency-recorded=pending
wait 3500ms
upstream: 201 body=two
b: as a
b sees: 201 created body=two idempotency-recorded=pending
backend saw b: idempotency-attempt=2
bridge: answers
bridge is quiet
c: as a
c sees: 201 replayed body=two
backend ran: 2
stats: stale=1 takeover=1
