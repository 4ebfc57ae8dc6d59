-- issue: store a key that the gateway has signed, so that lost data refuses it
-- later rather than runs it twice.
--
-- ARGV 1 policy, 2 life of the key (ms)
-- returns {ISSUED, life left (us)}, or {STALE} when the key has been used already
--
-- Run again it finds the key and leaves its life as it is.

local r = load()
if not r.st then
  local life = math.max(tonumber(ARGV[2]), 1)
  r.st, r.po, r.kx = 'I', ARGV[1], now + life * 1000
  save(r, life, true)
elseif r.st ~= 'I' then
  if r.st == 'P' or r.st == 'U' then touch(r) end
  return {STALE}
end
return {ISSUED, math.max(r.kx - now, 0)}
