-- release: proof that nothing was executed under this owner.
--
-- ARGV 1 owner, 2 fence (0: not known), 3 policy, 4 life of a released marker (ms),
--      5 '1' to undo a grant that too few replicas hold
-- returns {OK}, or {STALE} where a grant is not undone
--
-- A released key leaves a marker for a while, found or not, so that a late claim
-- of the same owner cannot win it. After a take-over an earlier fence may have
-- run, and the key goes back to unknown instead of free.
-- The bridge undoes what it granted and could not answer. Its owner may have
-- claimed once more meanwhile, elsewhere and with success: then it must not.
-- Run again it finds its own marker and changes nothing.

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
if r.st ~= 'P' or r.ow ~= owner or (fence ~= 0 and fence ~= r.fe) then return {OK} end

if r.nw then
  seal(r, p)
elseif r.mb then
  r.st, r.le, r.at = 'U', 0, math.max(r.at - 1, 0)
  save(r, unresolved(r, p))
  index(r)
else
  unindex()
  local free = {st = 'R', ow = owner, fe = r.fe, fp = '', ca = 0, le = 0, at = 0, ex = 0, kx = 0}
  local life = marker
  if p.iss then
    free.st, free.po, free.kx = 'I', r.po, r.kx
    life = math.max(marker, ms(r.kx - now))
  end
  save(free, life)
end
return {OK}
