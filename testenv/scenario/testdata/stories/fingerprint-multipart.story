story: Multipart bodies are compared part by part, whatever their boundary
rules: fingerprints
mode: on

upstream: 201 body=done
a: POST /multipart key=k1 content-type="multipart/form-data; boundary=one" body="--one\x0d\x0aContent-Disposition: form-data; name=\"to\"\x0d\x0a\x0d\x0aa\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"amount\"\x0d\x0a\x0d\x0a5\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\x0d\x0aContent-Type: text/plain\x0d\x0a\x0d\x0ahello\x0d\x0a--one--\x0d\x0a"
a sees: 201 created
b: as a content-type="multipart/form-data; boundary=\"--two\"" body="----two\x0d\x0aContent-Disposition: form-data; name=\"amount\"\x0d\x0a\x0d\x0a5\x0d\x0a----two\x0d\x0aContent-Disposition: form-data; name=\"client_time\"\x0d\x0a\x0d\x0a9\x0d\x0a----two\x0d\x0aContent-Disposition: form-data; name=\"to\"\x0d\x0a\x0d\x0aa\x0d\x0a----two\x0d\x0aContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\x0d\x0aContent-Type: text/plain\x0d\x0a\x0d\x0ahello\x0d\x0a----two--\x0d\x0a"
b sees: 201 replayed
c: as a body="--one\x0d\x0aContent-Disposition: form-data; name=\"to\"\x0d\x0a\x0d\x0aa\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"amount\"\x0d\x0a\x0d\x0a5\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"file\"; filename=\"b.txt\"\x0d\x0aContent-Type: text/plain\x0d\x0a\x0d\x0ahello\x0d\x0a--one--\x0d\x0a"
c sees: 422 key-reused has="parts\":[\"body\"]"
d: as a body="--one\x0d\x0aContent-Disposition: form-data; name=\"to\"\x0d\x0a\x0d\x0aa\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"amount\"\x0d\x0a\x0d\x0a5\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\x0d\x0aContent-Type: text/html\x0d\x0a\x0d\x0ahello\x0d\x0a--one--\x0d\x0a"
d sees: 422 key-reused
e: as a body="--one\x0d\x0aContent-Disposition: form-data; name=\"to\"\x0d\x0a\x0d\x0aa\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"amount\"\x0d\x0a\x0d\x0a5\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\x0d\x0aContent-Type: text/plain\x0d\x0a\x0d\x0aHello\x0d\x0a--one--\x0d\x0a"
e sees: 422 key-reused
# A field behind a file may not be seen by the backend.
f: as a body="--one\x0d\x0aContent-Disposition: form-data; name=\"to\"\x0d\x0a\x0d\x0aa\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\x0d\x0aContent-Type: text/plain\x0d\x0a\x0d\x0ahello\x0d\x0a--one\x0d\x0aContent-Disposition: form-data; name=\"amount\"\x0d\x0a\x0d\x0a5\x0d\x0a--one--\x0d\x0a"
f sees: 422 key-reused
# Not the form that its type says: byte by byte.
g: as a content-type="multipart/form-data; boundary=other"
g sees: 422 key-reused
backend ran: 1
