story: A status that a proxy may have made leaves the outcome unknown
rules: main
each status: 502 | 503 | 504

upstream: {status} body=broken
a: POST /uploads key=k1 body=x
a sees: {status} created body=broken
upstream: 201 body=done
b: as a
b sees: 409 outcome-unknown has="retryable\":true" retry-after=*
backend ran: 1
