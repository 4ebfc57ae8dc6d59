-- lookup: what its caller may see of a key.
--
-- ARGV 1 '1' to read the result too
-- returns {FOUND, state, status, age (us), life left (us), lease left (us), result}
--      (status 0: an erased record)
--      or {NOTFOUND}: no record, or one past its life that Redis is about to drop
--
-- It changes nothing.

local FOUND, NOTFOUND = 20, 21
local r = load()
if not r.st then return {NOTFOUND} end
local age = r.ca > 0 and math.max(now - r.ca, 0) or 0
local lease = (r.st == 'P' or r.st == 'U' or r.st == 'E') and math.max(r.le - now, 0) or 0
local left = 0
if final(r) then
  left = math.max(r.ex - now, 0)
  if left == 0 and policy(r.po).tomb == 0 and not policy(r.po).iss then return {NOTFOUND} end
elseif r.st == 'I' then
  left = math.max(r.kx - now, 0)
end
local result = ''
if r.st == 'C' and left > 0 and ARGV[1] == '1' then result = redis.call('GET', R) or '' end
local status = r.ow and tonumber(r.sc) or 0
return {FOUND, r.st, status, age, left, lease, result}
