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
--   cl keyed digest of the caller         tr traceparent of the first request
local TEXTS = {'st', 'ow', 'po', 'f1', 'f2', 'f3', 'mb', 'nw', 'ns', 'hd', 'sc', 'un', 'id', 'cl', 'tr'}
local NUMBERS = {'fe', 'ca', 'le', 'at', 'ex', 'kx'}

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
  return r
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

-- unresolved is the life of a record without a final word: what is left of its
-- lease, then as long as an answer would have been remembered; never less than
-- its issued key.
local function unresolved(r, p)
  return math.max(ms(r.le - now) + p.ttl + p.tomb, ms(r.kx - now))
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
  r.ex, r.id = math.max(now + p.ttl * 1000, r.kx, r.le), nil
  r.po = pack(p)
  r.at, r.mb, r.nw, r.ns, r.hd, r.un = 0, nil, nil, nil, nil, nil
  return ms(r.ex - now) + p.tomb
end

-- seal ends a claim on which an older owner's success was noted: the operation
-- has run, its result is not here.
local function seal(r, p)
  unindex()
  r.st, r.ow, r.sc, r.le = 'E', r.nw, r.ns, 0
  save(r, settle(r, p))
end
