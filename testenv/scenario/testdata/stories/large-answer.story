story: An answer too large to be kept passes whole, and is never run again
rules: main
mode: both
each answer: 200 size=1025 | 201 size=300000 | 200 size=5 content-type=text/event-stream

upstream: {answer}
a: POST /orders key=k1 body={"a":1}
a sees: {answer} idempotency-status=created !idempotency-recorded
b: as a
b sees: 409 response-not-kept has="original_status\":20" has="retryable\":false" !retry-after
backend ran: 1
stats: op_executed=1 op_completed=0
