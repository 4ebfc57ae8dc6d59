story: No connection to the bridge: reject says 503 at once
rules: main

bridge: refuses
a: POST /orders key=k1 body={"a":1}
a sees: 503 unavailable retry-after=1 within=100ms
bridge: answers
wait 500ms
b: as a
b sees: 200 created
backend ran: 1
