story: A key that was claimed without a word is free again if its request never ran
rules: main
each status: 429 | 401
envoy: 429

bridge claim: swallows
upstream: refuses
a: POST /uploads key=k1 body=x
a sees: 503 unprotected
upstream: {status}
b: POST /uploads key=k2 body=x
b sees: {status} unprotected
bridge: answers
bridge is quiet
upstream: 201 body=done
c: as a
c sees: 201 created
d: as b
d sees: 201 created
