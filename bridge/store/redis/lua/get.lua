-- get: what an operator may see of a record.
--
-- ARGV 1 '1' to read the result too
-- returns {now (us), result kept 0|1, the result or '', field, value, ...}; no
--      fields: there is no record
--
-- It changes nothing, but that an unresolved record goes back into an index that
-- lost it.

local v = redis.call('HGETALL', K)
local kept = redis.call('EXISTS', R)
local result = ARGV[1] == '1' and redis.call('GET', R) or ''
local r = load()
if r.st == 'P' or r.st == 'U' then touch(r) end
local answer = {int(now), kept, result}
for i = 1, #v do answer[i + 3] = v[i] end
return answer
