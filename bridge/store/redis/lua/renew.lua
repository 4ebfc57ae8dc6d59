-- renew: the owner's stream still lives; its lease starts again from now.
--
-- ARGV 1 owner, 2 fence, 3 policy
-- returns {OK, 0, lease left (us), acks} or {STALE}: not the owner any more, or too late
--
-- Run again it only moves the end of the lease once more.

local owner, fence, caller = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local r = load()
if (r.st ~= 'P' and r.st ~= 'E') or r.ow ~= owner or r.fe ~= fence or over(r) then
  if r.st == 'P' or r.st == 'U' then touch(r) end
  return {STALE}
end

local p = stricter(r, caller)
r.le = math.max(r.le, now + p.lease * 1000)
redis.call('HDEL', K, 'le') -- lets the rest pass when memory is full
if r.st == 'E' then
  r.ex = math.max(r.ex, r.le)
  redis.call('HSET', K, 'le', int(r.le), 'ex', int(r.ex))
  redis.call('PEXPIRE', K, int(ms(r.ex - now) + p.tomb))
else
  redis.call('HSET', K, 'le', int(r.le))
  redis.call('PEXPIRE', K, int(unresolved(r, p)))
  index(r)
end
return {OK, 0, r.le - now, acks(p)}
