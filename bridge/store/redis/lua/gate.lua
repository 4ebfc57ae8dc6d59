-- gate: stands between the prelude and every operation. A record that is named
-- under an earlier secret or scope may have to be found, or made, elsewhere.
--
-- ARGV, the last, which is taken off: '' or mode, replicas, ':', life (ms), ':', where.
--      mode c a new record is to be refused when memory is full
--           s it is not
--           r nothing may be changed
--           v as s, and a marker that points there is void: the operation goes on here
--      where is 48 bytes, the name and what vouches for it, or ''
-- returns {MOVED, where, made now 0|1, acks} where the record is not to be used here
--
-- Where there is no record and the operation knows where it is to be made, a marker
-- takes its place in the same step: whoever still uses this name is sent on from
-- then on, and nothing is claimed here. The marker outlives all that is made
-- behind it, since whoever meets it makes it live on.
--   st M   to where   ml its life, ms   hd, le: what a version that knows no markers
--   takes for a record that it must not grant
-- Run again it finds the marker.

local MOVED = 200
local gate = table.remove(ARGV)
do
  local r = load()
  if r.st == 'M' or not r.st and gate ~= '' then
    local mode, replicas, life, to = string.match(gate, '^(%a)(%d+):(%d+):(.*)$')
    local acks = tonumber(replicas) or 0
    life = tonumber(life) or 0
    if r.st == 'M' and not (mode == 'v' and r.to == to) then
      if mode ~= 'r' then
        local known = tonumber(r.ml) or 0
        life = math.max(life, known)
        if life > known or redis.call('PTTL', K) < life * 0.8 then
          redis.call('PEXPIRE', K, int(life)) -- passes when memory is full
          redis.call('HSET', K, 'ml', int(life), 'le', int(now + life * 1000))
        end
      end
      return {MOVED, r.to, 0, acks}
    end
    if r.st == 'M' then
      redis.call('DEL', K)
      r = load()
    elseif mode ~= 'v' and to ~= '' then
      if mode ~= 'r' then
        if mode ~= 'c' then redis.call('DEL', K) end
        redis.call('HSET', K, 'st', 'M', 'to', to, 'ml', int(life), 'hd', '1', 'le', int(now + life * 1000))
        redis.call('PEXPIRE', K, int(life))
      end
      return {MOVED, to, 1, acks}
    end
  end
  load = function() return r end -- what the operation calls it for has been done
end
