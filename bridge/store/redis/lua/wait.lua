-- wait: what a claim by somebody else would be told of a key. It changes nothing.
--
-- ARGV 1 policy, 2 fingerprint ('' is not tested),
--      3 longest result (bytes) that may be returned ('': any)
-- returns {INFLIGHT, retry after (us), age, trace} while a claim is live, or a
--      final word is there and its result is coming
--      or {UNKNOWN, retry after (us), age, trace} within the lease
--      or {REPLAYED | USED | NOTKEPT, ...}, {LARGE}, {REUSED, ...}, each as claim
--      or {FREE}: a claim decides

local FREE = 18
local caller, fp = ARGV[1], ARGV[2]
local r = load()
if not r.st or r.st == 'I' or r.st == 'R' or r.st == 'M' then return {FREE} end
local p = stricter(r, caller)
local age = math.max(now - r.ca, 0)
if final(r) and now >= r.ex then return {FREE} end
if fp ~= '' and r.fp ~= '' and r.fp ~= fp then return {REUSED, r.fp, age, r.tr} end

if not over(r) and r.st ~= 'C' then
  -- A claim from the future (the clock was set back) waits one lease at most.
  local retry = math.min(r.le - now, p.lease * 1000)
  return {r.st == 'U' and UNKNOWN or INFLIGHT, retry, age, r.tr}
end
if not final(r) or acks(p) then return {FREE} end

local left, status = r.ex - now, tonumber(r.sc)
if r.st == 'C' then
  if p.rej then return {USED, status, age, left, '', 0, r.tr} end
  if redis.call('STRLEN', R) > (tonumber(ARGV[3]) or math.huge) then return {LARGE} end
  local result = redis.call('GET', R)
  if result then return {REPLAYED, status, age, left, result, 0, r.tr} end
end
return {NOTKEPT, status, age, left, '', 0, r.tr}
