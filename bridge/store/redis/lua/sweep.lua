-- sweep: take a member out of its bucket's index if nothing unresolved is behind
-- it.
--
-- returns 1 when it was taken out, else 0

local st = redis.call('HGET', K, 'st')
if st == 'P' or st == 'U' then return 0 end
return redis.call('ZREM', IDX, member())
