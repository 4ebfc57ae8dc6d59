story: A repeat gets the recorded answer, without a second run
rules: main
mode: both

upstream: 201 body=done content-type=text/plain x-a=1 x-a=2
a: POST /orders key=k1 body={"a":1}
a sees: 201 created body=done x-a=1,2 !idempotent-replayed !idempotency-recorded
backend ran: 1
backend saw a: idempotency-fence=* idempotency-attempt=1 idempotency-gateway=edge body={"a":1}

bridge is quiet
# The same in another spelling.
wait 2s
b: as a body="{ \"a\": 1.0 }"
b sees: 201 replayed body=done x-a=1,2 content-type=text/plain idempotent-replayed=true idempotency-age=2 idempotency-expires-in=*
backend ran: 1
on only: stats: created=1 replayed=1 replayed_locally=1 callouts=2
# The execution is told apart, before the answer; its body follows.
off only: stats: created=1 replayed=1 replayed_locally=1 callouts=3 op_executed=1 op_completed=1
