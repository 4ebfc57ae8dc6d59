-- prelude: what every script of the record begins with.
--
-- KEYS 1 the record (hash), 2 its result (string), 3 the bucket's index of
--      records without a final word (sorted set, scored by lease_end).
--      All three carry one hash tag, so a script never leaves its node.
--
-- Times are Redis TIME in microseconds, lives are milliseconds; nothing comes
-- from a caller's clock. Fences and times stay below 2^53, where Lua's numbers
-- are exact; they are compared as numbers and written with int(), because
-- tostring() would round them.
--
-- A script is one atomic step. Redis refuses a script's first write when memory
-- is full unless that write frees memory, and asks no more after it: what must
-- work then (a final word, unknown, release, renew) begins with DEL, HDEL or
-- ZREM, what must not (a new claim, a new key) begins with HSET.

local K, R, IDX = KEYS[1], KEYS[2], KEYS[3]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

-- Answers, as wire.Code; LARGE is the store's own.
local LARGE = 0
local OK, CREATED, REPLAYED, INFLIGHT, REUSED, USED = 1, 2, 3, 4, 5, 6
local EXPIRED, UNKNOWN, NOTKEPT, STALE, LAPSED, ISSUED = 7, 8, 9, 12, 13, 14

-- The newest version of records that this text knows. A record of a later one has
-- it in the field v; those of version 1 have no such field. Such a record is left
-- alone by every script: what its fields mean is not known, and to grant its key
-- could be to run it twice.
local VERSION, INVALID = 1, 16
do
  local v = redis.pcall('HGET', K, 'v')
  if type(v) == 'string' and (tonumber(v) or math.huge) > VERSION then return {INVALID, v} end
end

-- Fields of the record. Values stay within 64 bytes, so that Redis keeps the
-- hash in its compact form; the fingerprint is longer and lies in three pieces.
--   st state: I issued, R released, P processing, U unknown, E executed, C completed
--   ow owner (I and R: who released it)   fe fence        po policy
--   ca claimed_at, us                     le lease_end, us; 0: over, whatever the clock says
--   f1 f2 f3 fingerprint                  at attempts     mb an earlier fence may have run
--   nw ns noted owner and its status      hd held         sc status of the answer
--   un the grant may be undone: replicas are awaited, and its owner has not asked again
--   ex expires_at, us (E and C)           kx end of an issued key's life, us
--   id key and principal, sealed; until the final word. Longer than 64 bytes, and
--      there only where the bridge may have to ask the backend
--   cm fence and moment (us) of the last compensation that was begun
--   cl keyed digest of the caller         tr traceparent of the first request
--   v version of the record; absent: 1
--   r1 .. r8 owners that released and that nothing else here remembers, the oldest
--      first: the moment (us) until which each is refused, ':', the owner
local TEXTS = {'st', 'ow', 'po', 'f1', 'f2', 'f3', 'mb', 'nw', 'ns', 'hd', 'sc', 'un', 'id', 'cl', 'tr', 'cm'}
local NUMBERS = {'fe', 'ca', 'le', 'at', 'ex', 'kx'}

local LEAVERS = {'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8'}

local function int(n) return string.format('%.0f', n) end

-- load reads the record; without st there is none. Numbers that are not there
-- are 0.
local function load()
  local r = {fe = 0, ca = 0, le = 0, at = 0, ex = 0, kx = 0, fp = ''}
  local v = redis.call('HGETALL', K)
  if #v == 0 then return r end
  for i = 1, #v, 2 do
    local name = v[i]
    r[name] = r[name] and tonumber(v[i + 1]) or v[i + 1]
  end
  r.fp = (r.f1 or '') .. (r.f2 or '') .. (r.f3 or '')
  if r.r1 then
    r.leavers = {}
    for i = 1, #LEAVERS do
      local v = r[LEAVERS[i]]
      if not v then break end
      local colon = string.find(v, ':', 1, true)
      local to = tonumber(string.sub(v, 1, colon - 1))
      if to > now then r.leavers[#r.leavers + 1] = {to, string.sub(v, colon + 1)} end
    end
  end
  return r
end

-- listLeavers appends the fields of r's leavers to a.
local function listLeavers(r, a)
  for i = 1, #r.leavers do
    a[#a + 1] = LEAVERS[i]
    a[#a + 1] = int(r.leavers[i][1]) .. ':' .. r.leavers[i][2]
  end
end

-- save writes r whole; fresh says that the key is not there.
local function save(r, life, fresh)
  local a, n = {}, 0
  r.f1, r.f2, r.f3 = nil, nil, nil
  if r.fp ~= '' then
    r.f1, r.f2, r.f3 = string.sub(r.fp, 1, 64), string.sub(r.fp, 65, 128), string.sub(r.fp, 129)
  end
  for i = 1, #TEXTS do
    local v = r[TEXTS[i]]
    if v and v ~= '' then
      a[n + 1], a[n + 2] = TEXTS[i], v
      n = n + 2
    end
  end
  for i = 1, #NUMBERS do
    local v = r[NUMBERS[i]]
    if v ~= 0 then
      a[n + 1], a[n + 2] = NUMBERS[i], int(v)
      n = n + 2
    end
  end
  if r.leavers then listLeavers(r, a) end
  if not fresh then redis.call('DEL', K) end
  redis.call('HSET', K, unpack(a))
  redis.call('PEXPIRE', K, int(math.max(life, 1)))
end

local function member() return string.sub(K, -64) end
local function index(r) redis.call('ZADD', IDX, int(r.le), member()) end
local function unindex() redis.call('ZREM', IDX, member()) end

-- touch puts an unresolved record back into an index that lost it. It is not
-- worth failing for, and it does when memory is full.
local function touch(r) redis.pcall('ZADD', IDX, int(r.le), member()) end

-- A policy is text: ttl:tombstone:lease (ms) :attempts:recovery:issued:reject:generation.
-- After reject comes a second digit, the replicas, where there are any.
local function policy(s)
  local ttl, tomb, lease, max, rec, iss, rej, acks, gen =
    string.match(s, '^(%d+):(%d+):(%d+):(%d+):(%d):(%d):(%d)(%d?):(.*)$')
  return {ttl = tonumber(ttl), tomb = tonumber(tomb), lease = tonumber(lease),
    max = tonumber(max), rec = tonumber(rec), iss = iss == '1', rej = rej == '1',
    acks = tonumber(acks) or 0, gen = gen, text = s}
end

local function pack(p)
  if p.text then return p.text end
  return int(p.ttl) .. ':' .. int(p.tomb) .. ':' .. int(p.lease) .. ':' .. int(p.max) .. ':' ..
    int(p.rec) .. ':' .. (p.iss and '1' or '0') .. ':' .. (p.rej and '1' or '0') ..
    (p.acks > 0 and int(p.acks) or '') .. ':' .. p.gen
end

-- acks ends an answer that must be acknowledged by replicas: how many. Where
-- none have to, it adds nothing.
local function acks(p)
  if p.acks > 0 then return p.acks end
end

-- stricter is the policy that holds between the record's and a caller's: longer
-- lives, fewer attempts (0 is none set), hold before probe before reacquire, more
-- replicas.
local function stricter(r, caller)
  local c = policy(caller)
  if not r.po or r.po == caller then return c end
  local p = policy(r.po)
  p.text = nil
  p.ttl, p.tomb, p.lease = math.max(p.ttl, c.ttl), math.max(p.tomb, c.tomb), math.max(p.lease, c.lease)
  if p.max == 0 or (c.max > 0 and c.max < p.max) then p.max = c.max end
  p.rec = math.min(p.rec, c.rec)
  p.iss, p.rej = p.iss or c.iss, p.rej or c.rej
  p.acks = math.max(p.acks, c.acks)
  return p
end

local function final(r) return r.st == 'E' or r.st == 'C' end
local function over(r) return now >= r.le end
local function ms(us) return math.max(math.ceil(us / 1000), 0) end

-- A released owner is remembered by the record: as the one of I and R, else as a
-- leaver. A claim of its that was delayed somewhere then comes to nothing.

-- hasLeft reports whether owner has released.
local function hasLeft(r, owner)
  if (r.st == 'I' or r.st == 'R') and r.ow == owner then return true end
  for i = 1, r.leavers and #r.leavers or 0 do
    if r.leavers[i][2] == owner then return true end
  end
  return false
end

-- leave makes owner a leaver for life (ms), the newest; save writes it. It returns
-- how many of the oldest were dropped for it.
local function leave(r, owner, life)
  local keep, dropped = {}, 0
  for i = 1, r.leavers and #r.leavers or 0 do
    if r.leavers[i][2] ~= owner then keep[#keep + 1] = r.leavers[i] end
  end
  keep[#keep + 1] = {now + life * 1000, owner}
  if #keep > #LEAVERS then
    table.remove(keep, 1)
    dropped = 1
  end
  r.leavers = keep
  return dropped
end

-- succeed is to be called before another owner than that of I and R is set.
local function succeed(r, owner, life)
  if (r.st == 'I' or r.st == 'R') and r.ow and r.ow ~= owner then return leave(r, r.ow, life) end
  return 0
end

-- unresolved is the life of a record without a final word: what is left of its
-- lease, then as long as an answer would have been remembered; never less than
-- its issued key, or than it refuses a leaver.
local function unresolved(r, p)
  local life = math.max(ms(r.le - now) + p.ttl + p.tomb, ms(r.kx - now))
  if r.leavers and #r.leavers > 0 then life = math.max(life, ms(r.leavers[#r.leavers][1] - now)) end
  return life
end

-- tell sets who asked, as an operation's last arguments say it; what it does not
-- say stays as it was.
local function tell(r, id, caller, trace)
  if id and id ~= '' then r.id = id end
  if caller and caller ~= '' then r.cl = caller end
  if trace and trace ~= '' then r.tr = trace end
end

-- settle makes r final and returns its life. An issued key's answer lives at
-- least as long as the key.
local function settle(r, p)
  r.ex, r.id, r.cm = math.max(now + p.ttl * 1000, r.kx, r.le), nil, nil
  r.po = pack(p)
  r.at, r.mb, r.nw, r.ns, r.hd, r.un, r.leavers = 0, nil, nil, nil, nil, nil, nil
  return ms(r.ex - now) + p.tomb
end

-- wake tells the bridges whose requests wait for this record that it is not in
-- flight any more. Where nobody of the node's clients listens it costs a look. It
-- never fails a step: what is not heard is found at the lease's end. A server that
-- knows no sharded channels (older than 7, embedded) is told by plain ones.
local function wake()
  local channel = string.sub(IDX, 1, -4) .. 'w'
  local n = redis.pcall('PUBSUB', 'SHARDNUMSUB', channel)
  if n.err then
    redis.pcall('PUBLISH', channel, member())
  elseif n[2] > 0 then
    redis.pcall('SPUBLISH', channel, member())
  end
end

-- seal ends a claim on which an older owner's success was noted: the operation
-- has run, its result is not here.
local function seal(r, p)
  unindex()
  r.st, r.ow, r.sc, r.le = 'E', r.nw, r.ns, 0
  save(r, settle(r, p))
  wake()
end

-- free makes the key claimable again, by others than its owner: RELEASED, or an
-- issued key ISSUED again. marker is the life of RELEASED (ms).
local function free(r, p, marker)
  unindex()
  local f = {st = 'R', ow = r.ow, fe = r.fe, fp = '', ca = 0, le = 0, at = 0, ex = 0, kx = 0, leavers = r.leavers}
  local life = marker
  if p.iss then
    f.st, f.po, f.kx = 'I', r.po, r.kx
    life = math.max(marker, ms(r.kx - now))
  end
  save(f, life)
  wake()
end
