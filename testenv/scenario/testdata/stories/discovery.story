story: Clients read what the rules ask of them
rules: observe
mode: both

a: GET /.well-known/idempotency user=
a sees: 200 - content-type=application/vnd.oncewall.discovery.v1+json cache-control="public, max-age=300" etag=* has="/orders"
b: HEAD /.well-known/idempotency user=
b sees: 200 - content-type=application/vnd.oncewall.discovery.v1+json etag=*
c: GET /.well-known/idempotency if-none-match=*
c sees: 304 - body="" etag=* !content-type
backend ran: 0
stats: callouts=0
