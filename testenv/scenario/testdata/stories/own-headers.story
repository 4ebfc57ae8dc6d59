story: Nobody but the gateway speaks in its name
rules: main
mode: both

upstream: 200 body=ok idempotency-status=replayed idempotent-replayed=true idempotency-age=9 idempotency-recorded=pending
a: POST /orders key=k1 body={"a":1} idempotency-fence=9 idempotency-attempt=9 idempotency-gateway=other idempotency-status=unprotected idempotency-outcome=final x-envoy-retry-on=5xx
a sees: 200 created !idempotent-replayed !idempotency-age !idempotency-recorded
backend saw a: idempotency-fence=* idempotency-attempt=1 idempotency-gateway=edge !idempotency-status !idempotency-outcome !x-envoy-retry-on
backend ran: 1
