-- audit: keep an entry about an operator's decision.
--
-- KEYS 1 the bucket's list of entries, in place of a record
-- ARGV 1 the entry, 2 how many are kept, 3 their life (ms)
-- returns {OK}
--
-- Run again it keeps the entry twice.

redis.call('LTRIM', K, 0, tonumber(ARGV[2]) - 2) -- frees, hence passes when memory is full
redis.call('LPUSH', K, ARGV[1])
redis.call('PEXPIRE', K, ARGV[3])
return {OK}
