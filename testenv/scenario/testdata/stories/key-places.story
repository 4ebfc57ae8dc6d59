story: The key may be in the query, a cookie, the path, or in several places together
rules: places
mode: both

a: POST /query path=/query?key=k%201&x=1
a sees: 200 created
b: POST /query path=/query?x=1&key=k+1
b sees: 422 key-reused has=target
c: as a
c sees: 200 replayed
d: POST /cookie cookie="lang=en; order=k1"
d sees: 200 created
e: POST /cookie cookie="order=\"k1\"; lang=de"
e sees: 200 replayed
f: PUT /shops/7/orders/o-1
f sees: 200 created
g: as f
g sees: 200 replayed
# Another shop's order of that number is another request under the same key.
h: PUT /shops/8/orders/o-1
h sees: 422 key-reused
i: POST /shops/7/items key=k1
i sees: 200 created
j: POST /shops/8/items key=k1
j sees: 200 created
l: as i
l sees: 200 replayed
m: POST /shops/7/items path=/shops/7/items?key=7%3Ak1
m sees: 422 key-reused
backend ran: 5
