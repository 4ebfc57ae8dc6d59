story: The key may be in a form
rules: forms
mode: on

a: POST /hooks content-type=application/x-www-form-urlencoded body="id=k%201&amount=3"
a sees: 200 created
b: as a
b sees: 200 replayed
c: POST /hooks content-type=application/json body="{\"id\":\"k2\"}"
c sees: 200 created
d: POST /hooks content-type=application/x-www-form-urlencoded body="id=k1&ID=k2"
d sees: 400 key-invalid has="more than once"
e: POST /hooks content-type=application/x-www-form-urlencoded body="id=k1&id=k1"
e sees: 400 key-invalid has="more than once"
f: POST /hooks content-type=application/x-www-form-urlencoded body="id=%zz"
f sees: 400 key-invalid has="more than one way"
# Without a field the next source counts.
g: POST /hooks content-type=application/x-www-form-urlencoded body="amount=3" key=k3
g sees: 200 created
h: POST /shops/7/hooks content-type=application/x-www-form-urlencoded body="id=k1"
h sees: 200 created
i: POST /shops/7/hooks content-type=text/plain body="id=k1"
i sees: 400 key-missing
backend ran: 4
