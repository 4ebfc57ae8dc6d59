story: Envoy has no bridge any more to send to when the answer comes
rules: main
each answer: 201 body=done | 204 | 200 size=5000
envoy: 201 body=done

upstream: holds
a: POST /uploads key=k1 body={"a":1} h2
backend ran: 1
bridge: absent
upstream answers a: {answer}
a sees: {answer} idempotency-status=created idempotency-recorded=pending
bridge: answers
wait 500ms
b: as a
backend ran: 1
