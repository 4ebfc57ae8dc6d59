-- erase: forget who sent a request and what it was answered.
--
-- ARGV 1 '1' to forget the key too, 2 '1' for an unresolved record as well
-- returns {OK, 0, 0, acks} or {NOTFOUND}, or {UNKNOWN, 0, 0}: unresolved, left alone
--
-- What stays is a tombstone, without fingerprint, caller, trace, owner and result, for
-- the rest of the record's life: a late retry is answered key-expired instead of
-- being run again, and a late word of its owner is stale: an ok would have the
-- owner's worker remember the result that is to be forgotten. Whoever waits is woken. Forgotten whole, the key is new. A key that was issued and never used
-- is forgotten in any case: an issued key without a record is refused.
-- Run again it finds the tombstone, or nothing.

local NOTFOUND = 21
local forget, force = ARGV[1] == '1', ARGV[2] == '1'
local r = load()
if not r.st or r.st == 'M' then return {NOTFOUND} end
local p = policy(r.po or '0:0:0:0:1:0:0:')
local open = r.st == 'P' or r.st == 'U'
if open and not force then
  touch(r)
  return {UNKNOWN, 0, 0}
end

if forget or r.st == 'I' then
  redis.call('DEL', K, R)
  unindex()
  wake()
  return {OK, 0, 0, acks(p)}
end
redis.call('DEL', R)
if r.st == 'R' then return {OK, 0, 0, acks(p)} end

local life = math.max(open and unresolved(r, p) or redis.call('PTTL', K), 1)
unindex()
p.text, p.tomb = nil, math.max(p.tomb, life)
r.st, r.le, r.ex, r.po = 'E', 0, now, pack(p)
r.sc = r.sc or r.ns or '999' -- an answer has a status; nobody is told an erased one's
r.fp, r.ow, r.id, r.cl, r.tr = '', nil, nil, nil, nil
r.at, r.mb, r.nw, r.ns, r.hd, r.un, r.cm, r.leavers = 0, nil, nil, nil, nil, nil, nil, nil
save(r, life)
wake()
return {OK, 0, 0, acks(p)}
