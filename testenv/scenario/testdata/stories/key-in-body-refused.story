story: A body whose key is not one is refused
rules: main
mode: on
each body: {"a":1} | transfer_id=1 | {"transfer_id":""} | {"transfer_id":"a","transfer_id":"b"} | {"transfer_id":"a","Transfer_ID":"b"} | {"transfer_id":"a\u0000b"}

a: POST /transfers body={body}
a sees: 400
backend ran: 0
stats: key_refused=1 callouts=0
