story: A rule says what a key looks like
rules: places
mode: both

a: POST /v1/uuid key=8e03978e-40d5-43dd-bc93-6894a57f9324
a sees: 200 created
b: POST /v1/uuid key=8E03978E-40D5-43DD-BC93-6894A57F9324
b sees: 200 replayed
c: POST /v1/uuid key=8e03978e-40d5-13dd-bc93-6894a57f9324
c sees: 400 key-invalid has="UUID of an allowed version"
d: POST /v12/uuid key=k1
d sees: 400 key-invalid has="UUID of an allowed version"
e: POST /strong key=abc-123
e sees: 400 key-invalid has="too short"
f: POST /strong key=abcABC-123
f sees: 400 key-invalid has="not allowed here"
g: POST /strong key=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
g sees: 400 key-invalid has="easy to guess"
h: POST /strong key=q8x-4vz0-m1tr7w
h sees: 200 created
backend ran: 2
