story: Forms are compared field by field
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /form key=k1 content-type=application/x-www-form-urlencoded body="to=a+b&amount=5&tag=x&tag=y&client_time=1"
a sees: 201 created
b: as a body="tag=x&client_time=2&amou%6Et=5&tag=y&to=a%20b"
b sees: 201 replayed
c: as a content-type="Application/X-WWW-Form-Urlencoded; charset=UTF-8"
c sees: 201 replayed
d: as a body="to=a+b&amount=5&tag=y&tag=x"
d sees: 422 key-reused has="parts\":[\"body\"]"
e: as a body="to=a+b&amount=6&tag=x&tag=y"
e sees: 422 key-reused
f: as a body="to=a+b&amount=5&tag=x&tag=y&client_time=1&client_time=2"
f sees: 422 key-reused
# No form is compared byte by byte.
g: POST /form key=k2 body="a=1&b=%"
g sees: 201 created
h: as g
h sees: 201 replayed
i: as g body="b=%&a=1"
i sees: 422 key-reused
backend ran: 2
