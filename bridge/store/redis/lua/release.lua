-- release: proof that nothing was executed under this owner.
--
-- ARGV 1 owner, 2 fence (0: not known), 3 policy, 4 life of a released marker (ms),
--      5 '1' to undo a grant that too few replicas hold
-- returns {OK, 0, 0, 0, leavers dropped}, or {STALE} where a grant is not undone
--
-- Whatever it finds, the owner is remembered for a while, so that a late claim of
-- the same owner cannot win the key: by the marker of a released key, else as a
-- leaver; only a final word and a lost issued key need neither. After a take-over
-- an earlier fence may have run, and the key goes back to unknown instead of free.
-- The bridge undoes what it granted and could not answer. Its owner may have
-- claimed once more meanwhile, elsewhere and with success: then it must not.
-- Run again it finds its own marker, or itself a leaver, and changes nothing but
-- how long that holds.

local owner, fence, caller, marker = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local r = load()
if ARGV[5] == '1' and not r.un then return {STALE} end
local p = stricter(r, caller)

if not r.st then
  if p.iss then return {OK} end
  r.st, r.ow, r.fe = 'R', owner, fence
  save(r, marker) -- begins with DEL, hence passes when memory is full
  return {OK}
end

if r.st == 'P' or r.st == 'U' then touch(r) end
if final(r) then return {OK} end
if (r.st == 'I' or r.st == 'R') and r.ow == owner then
  if redis.call('PTTL', K) < marker then redis.call('PEXPIRE', K, int(marker)) end
  return {OK}
end

if r.st ~= 'P' or r.ow ~= owner or (fence ~= 0 and fence ~= r.fe) then
  local dropped = leave(r, owner, marker)
  local fields = {}
  listLeavers(r, fields)
  redis.call('HDEL', K, unpack(LEAVERS)) -- lets the rest pass when memory is full
  redis.call('HSET', K, unpack(fields))
  if redis.call('PTTL', K) < marker then redis.call('PEXPIRE', K, int(marker)) end
  return {OK, 0, 0, 0, dropped}
end

if r.nw then
  seal(r, p)
elseif r.mb then
  local dropped = leave(r, owner, marker)
  r.st, r.le, r.at = 'U', 0, math.max(r.at - 1, 0)
  save(r, unresolved(r, p))
  index(r)
  wake()
  return {OK, 0, 0, 0, dropped}
else
  free(r, p, marker)
end
return {OK}
