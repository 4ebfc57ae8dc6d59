-- report: add to the counts of one hour. It stands alone: there is no record.
--
-- KEYS 1 the hour's counts (hash)
-- ARGV 1 most counts, 2 life (ms), 3 writer, 4 number of this addition, then for each
--      count its field, how many, and the field in its place where there is no room
-- returns 1, or 0 where the addition had been made already
--
-- A field is a count's name; '#' is how many counts there are, '!' and a writer that
-- writer's last number. Numbers of a writer grow, so an addition whose answer was
-- lost is made once.

local H = KEYS[1]
local most, life, writer, number = tonumber(ARGV[1]), ARGV[2], '!' .. ARGV[3], tonumber(ARGV[4])
if (tonumber(redis.call('HGET', H, writer) or '') or 0) >= number then return 0 end
local size = tonumber(redis.call('HGET', H, '#') or '') or 0
for i = 5, #ARGV, 3 do
  local field = ARGV[i]
  local had = redis.call('HGET', H, field)
  if not had and size >= most then
    field = ARGV[i + 2]
    had = redis.call('HGET', H, field)
  end
  if not had then size = size + 1 end
  redis.call('HSET', H, field, string.format('%.0f', (tonumber(had or '') or 0) + tonumber(ARGV[i + 1])))
end
redis.call('HSET', H, writer, ARGV[4], '#', size)
redis.call('PEXPIRE', H, life)
return 1
