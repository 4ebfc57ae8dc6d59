-- share: ask for a part of the reconcilers' work, or give it back.
--
-- KEYS 1 the share's lease, in place of a record
-- ARGV 1 holder, 2 its life (ms); 0: give it back
-- returns 0 it is another's, 1 it is the holder's, 2 it was another's, whose time
--      is over
--
-- The lease names who and until when. It saves work and protects nothing.

local v = redis.call('GET', K)
local ends, holder = string.match(v or '', '^(%d+) (.*)$')
local mine = holder == ARGV[1]
local life = tonumber(ARGV[2])
if life == 0 then
  if mine then redis.call('DEL', K) end
  return 0
end
if holder and not mine and tonumber(ends) > now then return 0 end
redis.call('SET', K, int(now + life * 1000) .. ' ' .. ARGV[1], 'PX', int(10 * life))
return holder and not mine and 2 or 1
