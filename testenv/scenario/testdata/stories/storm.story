story: A storm of repeats costs no callout
rules: main
mode: both

upstream: 201 body=done
a: POST /orders key=k1 body={"a":1}
a sees: 201 created
bridge is quiet
wait 50ms
b: as a
c: as a
d: as a
e: as a
f: as a
g: as a
h: as a
b sees: 201 replayed body=done
c sees: 201 replayed body=done
d sees: 201 replayed body=done
e sees: 201 replayed body=done
f sees: 201 replayed body=done
g sees: 201 replayed body=done
h sees: 201 replayed body=done

backend ran: 1
on only: stats: callouts=2 replayed=7 replayed_locally=7
off only: stats: callouts=3 replayed=7 replayed_locally=7
