-- reconcile: what a backend said about an unresolved record whose lease is over.
--
-- ARGV 1 owner and 2 fence that the backend was asked about, 3 'C' complete,
--      'E' executed, 'R' not executed and never will be, or 'M' a compensation is
--      about to be called, 4 status, 5 the result ('': none), 6 how long no other
--      compensation may begin (ms), 7 life of a released marker (ms)
-- returns {OK, noted 0|1, 0, acks}, or {STALE}: another owner or fence, or final
--      already, or {INFLIGHT, lease or compensation left (us), 0}, or
--      {UNKNOWN, 0, 0}: held, and only a final word or the operator ends that
--
-- Between question and answer anything may have happened, so everything is by
-- owner and fence, and only when the lease is over. The owner stays: its own late
-- word is then answered as a repetition. A noted success is a fact that no word of
-- a backend undoes.
-- Run again it answers the same and changes nothing more, but that 'M' is told to
-- wait.

local owner, fence, what, status, result = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local quiet, marker = tonumber(ARGV[6]), tonumber(ARGV[7])
local r = load()
local open = r.st == 'P' or r.st == 'U'
if open then touch(r) end
if not r.st or r.ow ~= owner or r.fe ~= fence then return {STALE} end
local p = policy(r.po or '0:0:0:0:1:0:0:')

if not open then
  local again = final(r) and (what == 'C' or what == 'E')
    or (r.st == 'R' or r.st == 'I') and what == 'R'
  if again then return {OK, 0, 0, acks(p)} end
  return {STALE}
end
if not over(r) then return {INFLIGHT, r.le - now, 0} end

if what == 'C' or what == 'E' then
  if what == 'C' then
    local life = int(math.max(p.ttl, ms(r.kx - now), 1))
    local kept = result ~= '' and redis.pcall('SET', R, result, 'PX', life)
    if not kept or kept.err then redis.call('DEL', R) end
  end
  unindex()
  r.st, r.sc, r.le = what, status, 0
  save(r, settle(r, p))
  wake()
  return {OK, 0, 0, acks(p)}
end

if r.hd then return {UNKNOWN, 0, 0} end
-- Repeated, as an answer for replicas would be, this would be a conflict. It writes
-- down what the next claim does anyway, so it needs none.
if r.nw then
  seal(r, p)
  return {OK, 1, 0}
end

if what == 'M' then
  local of, at = string.match(r.cm or '', '^(%d+):(%d+)$')
  if of and tonumber(of) == fence and tonumber(at) + quiet * 1000 > now then
    return {INFLIGHT, tonumber(at) + quiet * 1000 - now, 0}
  end
  redis.call('HSET', K, 'cm', int(fence) .. ':' .. int(now))
  return {OK, 0, 0}
end

free(r, p, marker)
return {OK, 0, 0, acks(p)}
