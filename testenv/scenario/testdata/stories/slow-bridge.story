story: A bridge that is slow, but in time
rules: main
runs: core harness

bridge: delays 150ms
a: POST /orders key=k1 body={"a":1}
a sees: 200 created !idempotency-recorded within=400ms
b: as a
b sees: 200 replayed
backend ran: 1
stats: bridge_error=0
