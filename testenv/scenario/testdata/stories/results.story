story: Every result of the backend is replayed as it was
rules: main
mode: both
each answer: 200 body=ok | 201 size=1024 location=/orders/1 | 204 | 303 location=/x | 404 body=no | 409 body=conflict | 422 body=bad | 500 body=oops | 501

upstream: {answer} x-shop=1 set-cookie=s=1
a: POST /orders key=k1 body={"a":1}
a sees: {answer} x-shop=1 set-cookie=s=1 idempotency-status=created
upstream: 299 body=again
b: as a
b sees: {answer} x-shop=1 !set-cookie idempotent-replayed=true idempotency-status=replayed
backend ran: 1
