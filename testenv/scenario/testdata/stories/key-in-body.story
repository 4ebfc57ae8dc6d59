story: The key may be in the body
rules: main
mode: on
each body: {"transfer_id":"t1"} | {"transfer_id":17,"amount":3} | {"transfer_id":"a/b"}

upstream: 201 body=sent
a: POST /transfers body={body}
a sees: 201 created
b: as a
b sees: 201 replayed body=sent
backend ran: 1
