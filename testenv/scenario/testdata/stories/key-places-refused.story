story: A place that holds two keys, or half of one, is refused before the store is asked
rules: places
mode: both

a: POST /query path=/query?key=k1&key=k1
a sees: 400 key-invalid has="more than once"
b: POST /query path=/query?key=k1&KEY=k1
b sees: 400 key-invalid has="more than once"
c: POST /query path=/query?key=k1;key=k2
c sees: 400 key-invalid has="more than one way"
d: POST /query path=/query?key=%zz
d sees: 400 key-invalid has="more than one way"
e: POST /query path=/query?key=k%0A1
e sees: 400 key-invalid
f: POST /query path=/query?key=
f sees: 400 key-invalid has="is empty"
g: POST /query path=/query?k=1
g sees: 400 key-missing
h: POST /cookie cookie="order=k1; order=k1"
h sees: 400 key-invalid has="more than once"
i: POST /cookie cookie="order=k1; Order=k2"
i sees: 400 key-invalid has="more than once"
j: POST /cookie cookie="lang=en"
j sees: 400 key-missing
l: PUT /shops/7/orders/%ff
l sees: 400 key-invalid
m: POST /shops/7/items key="a, b" path=/shops/7/items?key=k1
m sees: 400 key-invalid has="list of keys"
backend ran: 0
stats: callouts=0
