story: Rules are met by host, header, template and expression, and no spelling leads around one
rules: places
mode: both

# Not covered: no such host, header, version.
a: POST /features
a sees: 200 -
b: POST /vx/uuid
b sees: 200 -
c: POST /features x-beta=no
c sees: 200 -
# Covered.
d: POST /features x-beta=yes-1
d sees: 400 key-missing
e: POST /anything :authority=a.tenant.example
e sees: 400 key-missing
f: POST /anything :authority=B.Tenant.Example.:8080
f sees: 400 key-missing
p: POST /anything :authority=a..tenant.example
p sees: 400 key-missing
q: POST /anything :authority=a.tenant.example:x
q sees: 400 key-missing
r: POST /anything :authority=a:1.tenant.example
r sees: 400 key-missing
g: POST /v1/%75uid
g sees: 400 key-missing
# Safe methods and preflight are not touched.
h: OPTIONS /anything :authority=a.tenant.example
h sees: 200 -
i: GET /v1/uuid
i sees: 200 -
# The rule of /shops needs no key; the template's does, however it is spelled.
j: POST /shops/7/items/1
j sees: 200 -
l: POST /shops/7/items
l sees: 400 key-missing
n: POST /shops/;x/items
n sees: 400 key-invalid
o: POST /v1/uuid;x
o sees: 400 key-missing
backend ran: 6
