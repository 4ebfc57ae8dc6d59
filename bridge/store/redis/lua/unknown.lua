-- unknown: the request was forwarded and no complete answer came.
--
-- ARGV 1 owner, 2 fence (0: not known), 3 policy, 4 fingerprint ('': not known),
--      5 identity, 6 caller, 7 trace, each '' where there is none, 8 life of a leaver (ms)
-- returns {OK, restored 0|1, 0, acks, leavers dropped} or {STALE}
--
-- On a record that was lost or fell back behind this owner's fence it makes the
-- record again; an issued key's is then held, since what else was lost with it
-- is not known.
-- Run again by the same owner it answers the same and changes nothing more.

local owner, fence, caller, fp = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local r = load()
local me = r.ow == owner
local p = stricter(r, caller)

if final(r) then return {me and OK or STALE, 0, 0, acks(p)} end
if r.st == 'P' or r.st == 'U' then touch(r) end
if r.st == 'U' then return {me and OK or STALE, 0, 0, acks(p)} end

local current = me and (fence == r.fe or fence == 0)
if r.st and not current and fence <= r.fe then return {STALE} end

if r.nw then
  r.fe = math.max(r.fe, fence)
  seal(r, p)
  return {OK, 0, 0, acks(p)}
end

local restored, dropped = 0, 0
if not (r.st == 'P' and current) then
  restored = 1
  dropped = succeed(r, owner, tonumber(ARGV[8]))
  -- What this owner sent is one attempt more than a fallen-back claim knows of.
  r.at = r.st == 'P' and r.at + 1 or 1
  r.ow, r.fe, r.ca, r.le = owner, math.max(r.fe, fence), now, now + p.lease * 1000
  if p.iss then r.hd = '1' end
  if fp ~= '' then r.fp = fp end
  tell(r, ARGV[5], ARGV[6], ARGV[7])
end
r.st, r.po, r.un = 'U', pack(p), nil
save(r, unresolved(r, p)) -- begins with DEL, hence passes when memory is full
index(r)
wake()
return {OK, restored, 0, acks(p) or 0, dropped}
