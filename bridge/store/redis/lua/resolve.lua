-- resolve: an operator's decision about an unresolved record.
--
-- ARGV 1 owner (of the decision), 2 fence that the operator saw, 3 'C' complete,
--      'E' executed, 'R' free or 'X' extend, 4 status, 5 the result ('': none),
--      6 lease from now on (ms), 7 life of a released marker (ms)
-- returns {OK, noted 0|1, 0, acks}, or {STALE}: another fence, or final already,
--      or {INFLIGHT, lease left (us), 0}: its lease is not over
--
-- Only a record whose lease is over is taken from its owner. Free is the
-- operator's word that nothing up to this fence was executed or will be: unlike
-- release it ends a hold and a maybe. A noted success is a fact that no word
-- undoes.
-- Run again by the same owner it answers the same and changes nothing more, but
-- that extend counts from now.

local owner, fence, action, status, result = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local lease, marker = tonumber(ARGV[6]), tonumber(ARGV[7])
local r = load()
if not r.st or r.fe ~= fence then
  if r.st == 'P' or r.st == 'U' then touch(r) end
  return {STALE}
end
local p = policy(r.po or '0:0:0:0:1:0:0:')

if r.st ~= 'P' and r.st ~= 'U' then
  local again = final(r) and r.ow == owner and (action == 'C' or action == 'E')
    or (r.st == 'R' or r.st == 'I') and action == 'R'
  if again then return {OK, 0, 0, acks(p)} end
  return {STALE}
end
touch(r)

if action == 'X' then
  r.le = math.max(r.le, now + lease * 1000)
  redis.call('PEXPIRE', K, int(unresolved(r, p))) -- passes when memory is full
  redis.call('HSET', K, 'le', int(r.le))
  index(r)
  return {OK, 0, 0, acks(p)}
end
if not over(r) then return {INFLIGHT, r.le - now, 0} end

if action == 'R' then
  if r.nw then
    seal(r, p)
    return {OK, 1, 0, acks(p)}
  end
  free(r, p, marker)
  return {OK, 0, 0, acks(p)}
end

if action == 'C' then
  local life = int(math.max(p.ttl, ms(r.kx - now), 1))
  local kept = result ~= '' and redis.pcall('SET', R, result, 'PX', life)
  if not kept or kept.err then redis.call('DEL', R) end
end
unindex()
r.st, r.ow, r.sc, r.le = action, owner, status, 0
save(r, settle(r, p))
return {OK, 0, 0, acks(p)}
