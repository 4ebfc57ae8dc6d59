-- final: executed and complete. The final word on a key: upstream answered.
--
-- KEYS 4, where there is one: holds the result, and ARGV 8 says how it is known to
--      be whole: its length, then ',' and an offset where it has no zero, for each piece
-- ARGV 1 owner, 2 fence (0: not known), 3 policy, 4 fingerprint ('': not known),
--      5 'E' executed or 'C' complete, 6 status, 7 '1' when a result still
--      follows an executed, 8 the result, an envelope ('': not kept), 9 caller,
--      10 trace, each '' where there is none, 11 upstream's word on the life of the
--      result (ms; 0: the policy's)
-- returns {OK, restored 0|1, 0, acks} or {STALE}
--
-- An older owner's success on a live claim is noted there, and the key is never
-- granted again. On anything that is not live it is the final word itself.
-- When memory is full the word is kept and the result is not.
-- Run again by the same owner it answers the same and changes nothing more.

local owner, fence, caller, fp = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local STAGED = KEYS[4]
local kind, status, coming, result = ARGV[5], ARGV[6], ARGV[7] == '1', ARGV[8]
local success = string.sub(status, 1, 1) == '2'
local r = load()
local me = r.ow == owner
local p = stricter(r, caller)

-- Upstream's word replaces the policy's ttl, for this answer and its record. The
-- policy that the record keeps stays as it is.
local word = tonumber(ARGV[11]) or 0
if word > 0 then p.text, p.ttl = pack(p), word end

-- whole reports whether every piece of the staged result has come: one that was
-- lost with a node that wrote it left zeros.
local function whole()
  local length, proof = string.match(result, '^(%d+)(.*)$')
  if redis.call('STRLEN', STAGED) ~= tonumber(length) then return false end
  for at in string.gmatch(proof, '%d+') do
    if redis.call('GETRANGE', STAGED, at, at) == '\0' then return false end
  end
  return true
end

-- keep stores the result. One that another answer left behind must never be
-- replayed as this one.
local function keep()
  local life, kept = int(math.max(p.ttl, ms(r.kx - now), 1)), nil
  if STAGED and whole() then
    kept = redis.pcall('RENAME', STAGED, R)
    if kept.err then -- a user who may not
      local staged = redis.pcall('GET', STAGED)
      kept = type(staged) == 'string' and redis.pcall('SET', R, staged, 'PX', life)
    else
      redis.call('PEXPIRE', R, life)
    end
  elseif result ~= '' and not STAGED then
    kept = redis.pcall('SET', R, result, 'PX', life)
  end
  if not kept or kept.err then redis.call('DEL', R) end
end

-- answer leaves nothing staged behind.
local function answer(a)
  if STAGED then redis.call('DEL', STAGED) end
  return a
end

local function become()
  if kind == 'C' then keep() end
  unindex()
  local restoring = not r.st or r.st == 'R' or r.st == 'I'
  if restoring then r.ca = now end
  r.st, r.ow, r.fe, r.sc = kind, owner, math.max(r.fe, fence), status
  r.le = (kind == 'E' and coming) and now + p.lease * 1000 or 0
  if fp ~= '' then r.fp = fp end
  if restoring then tell(r, '', ARGV[9], ARGV[10]) end
  save(r, settle(r, p))
  -- What is restored may be waited for by those who saw it before it was lost.
  if r.le == 0 then wake() end
end

if final(r) then
  if not me then return answer({STALE}) end
  if now < r.ex and r.st == 'E' then
    if kind == 'C' then
      become()
    elseif not coming and not over(r) then
      redis.call('HDEL', K, 'le')
      wake()
    end
  end
  return answer({OK, 0, 0, acks(p)})
end

local current = me and (fence == r.fe or fence == 0)

if r.st == 'P' then
  if current or fence > r.fe then
    become()
    return answer({OK, 0, 0, acks(p)})
  end
  if success and not r.nw then
    redis.call('HDEL', K, 'nw')
    redis.call('HSET', K, 'nw', owner, 'ns', status)
  end
  touch(r)
  return answer({STALE})
end

if fence < r.fe and not current and not success then
  if r.st == 'U' then touch(r) end
  return answer({STALE})
end
local restored = r.st == 'U' and 0 or 1
become()
return answer({OK, restored, 0, acks(p)})
