story: An answer with trailers is not kept
rules: main
mode: both

upstream: 200 body=ok trailer.x-sum=1
a: POST /orders key=k1 body={"a":1} h2
a sees: 200 created body=ok
b: as a
b sees: 409 response-not-kept has="original_status\":200"
backend ran: 1
