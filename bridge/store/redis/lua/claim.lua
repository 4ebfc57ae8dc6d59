-- claim: become the owner of a key, or learn why not.
--
-- ARGV 1 owner, 2 policy, 3 fingerprint ('' is not tested), 4 clock skew (us),
--      5 longest result (bytes) that may be returned ('': any), 6 identity, 7 caller,
--      8 trace, each '' where there is none, 9 life of a leaver (ms)
-- returns {CREATED, fence, lease left (us), attempt, takeover 0|1, granted now 0|1, acks,
--        leavers dropped}
--      or {REPLAYED, status, age (us), life left (us), result, acks, trace}
--      or {USED | NOTKEPT, status, age, life left, '', acks, trace}
--      or {INFLIGHT | UNKNOWN, retry after (us), age, trace}; 0: no honest value exists
--      or {LARGE, status, age, life left, fence, acks, trace}: replayed, and the
--         result is longer than that
--      or {REUSED, the record's fingerprint, age, trace} or {EXPIRED} {STALE} {LAPSED}
--
-- Run again by the same owner it answers the same claim with the same fence and
-- the same end of its lease, so a lost answer costs nothing.

local owner, caller, fp, skew = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local r = load()
local p = stricter(r, caller)

-- parts takes a fingerprint apart: by part, what two must have in common to be
-- compared (the algorithm) and the digest. Version 1 carries no algorithms: its
-- method and target (1, 2) were made as version 2 makes them (1), the others in a
-- way that is not known (0). nil: another version.
local function parts(fp)
  local version, of = string.byte(fp), {}
  local tag = version == 2 and 2 or 0
  if version ~= 1 and version ~= 2 then return nil end
  for at = 2, #fp - tag - 32, tag + 33 do
    local id, algorithm = string.byte(fp, at), 0
    if tag == 2 then
      algorithm = string.byte(fp, at + 1) * 256 + string.byte(fp, at + 2)
    elseif id <= 2 then
      algorithm = 1
    end
    of[id] = {algorithm, string.sub(fp, at + tag + 1, at + tag + 32)}
  end
  return of
end

-- conflict says whether two fingerprints differ in a part that both have, made by
-- the same algorithm (wire.Conflict).
local function conflict(a, b)
  local x, y = parts(a), parts(b)
  if not x or not y then return true end
  for id, p in pairs(x) do
    local q = y[id]
    if q and p[1] == q[1] and p[2] ~= q[2] then return true end
  end
  return false
end

local function grant(attempts, maybe, fresh)
  local dropped = succeed(r, owner, tonumber(ARGV[9]))
  r.fe = math.max(r.fe + 1, now)
  r.st, r.ow, r.ca, r.le, r.po = 'P', owner, now, now + p.lease * 1000, pack(p)
  r.at, r.mb = attempts, maybe
  r.nw, r.ns, r.hd, r.sc, r.ex = nil, nil, nil, nil, 0
  r.un = p.acks > 0 and '1' or nil
  if fp ~= '' then r.fp = fp end
  r.id, r.cl, r.tr = nil, nil, nil
  tell(r, ARGV[6], ARGV[7], ARGV[8])
  save(r, unresolved(r, p), fresh)
  index(r)
  return {CREATED, r.fe, r.le - now, attempts, maybe and 1 or 0, 1, acks(p) or 0, dropped}
end

if not r.st then
  if p.iss then return {EXPIRED} end
  return grant(1, nil, true)
end

-- Past its life, and no tombstone wanted: Redis is about to drop it. The fence
-- grows on over it.
local past = final(r) and now >= r.ex
if past and p.tomb == 0 and not p.iss then
  r.fp, r.kx, r.po = '', 0, nil
  p = policy(caller)
  return grant(1, nil)
end

if r.st == 'P' or r.st == 'U' then touch(r) end
if fp ~= '' and r.fp ~= '' and r.fp ~= fp and conflict(r.fp, fp) then
  return {REUSED, r.fp, math.max(now - r.ca, 0), r.tr}
end
if past then return {EXPIRED} end
local age = math.max(now - r.ca, 0)

if r.st == 'C' then
  local left = r.ex - now
  if p.rej then return {USED, tonumber(r.sc), age, left, '', acks(p) or 0, r.tr} end
  if redis.call('STRLEN', R) > (tonumber(ARGV[5]) or math.huge) then
    return {LARGE, tonumber(r.sc), age, left, r.fe, acks(p) or 0, r.tr}
  end
  local result = redis.call('GET', R)
  if result then return {REPLAYED, tonumber(r.sc), age, left, result, acks(p) or 0, r.tr} end
  return {NOTKEPT, tonumber(r.sc), age, left, '', acks(p) or 0, r.tr}
end

if r.st == 'I' then
  if hasLeft(r, owner) then return {STALE} end
  if now >= r.kx then return {EXPIRED} end
  return grant(1, nil)
end

if r.st == 'R' then
  if hasLeft(r, owner) then return {STALE} end
  if p.iss then return {EXPIRED} end
  return grant(1, nil)
end

-- A claim from the future: the clock was set back by a failover. Its lease
-- starts once more on the clock that is there now.
if r.ca > now + skew and not over(r) then
  r.ca, r.le, age = now, now + p.lease * 1000, 0
  -- No lease outlasts the record. PEXPIRE comes first, as it passes when memory
  -- is full.
  if r.st == 'E' then
    r.ex = math.max(r.ex, r.le)
    redis.call('PEXPIRE', K, int(math.max(ms(r.ex - now) + p.tomb, 1)))
    redis.pcall('HSET', K, 'ca', int(r.ca), 'le', int(r.le), 'ex', int(r.ex))
  else
    redis.call('PEXPIRE', K, int(math.max(unresolved(r, p), 1)))
    redis.pcall('HSET', K, 'ca', int(r.ca), 'le', int(r.le))
    touch(r)
  end
end
local retry = math.min(math.max(r.le - now, 0), p.lease * 1000)

if r.st == 'E' then
  if not over(r) then return {INFLIGHT, retry, age, r.tr} end
  return {NOTKEPT, tonumber(r.sc), age, r.ex - now, '', acks(p) or 0, r.tr}
end

-- P or U
local mine = r.st == 'P' and r.ow == owner
if mine or not over(r) then
  if mine and over(r) then return {LAPSED} end
  if mine then
    if r.un then redis.call('HDEL', K, 'un') end
    return {CREATED, r.fe, r.le - now, r.at, r.mb and 1 or 0, 0, acks(p)}
  end
  return {r.st == 'P' and INFLIGHT or UNKNOWN, retry, age, r.tr}
end
if r.nw then
  seal(r, p)
  return {NOTKEPT, tonumber(r.sc), age, r.ex - now, '', acks(p) or 0, r.tr}
end
if p.rec == 3 and not r.hd and (p.max == 0 or r.at < p.max) then
  if hasLeft(r, owner) then return {STALE} end
  return grant(r.at + 1, '1')
end
return {UNKNOWN, 0, age, r.tr}
