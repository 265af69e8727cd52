-- Takes down whether a replica has what all replicas need. KEYS: sorted set of those that have it, by when that is
-- forgotten. ARGV: replica, 1 or 0 for whether it has it, milliseconds for which that counts.
-- Returns how many others have it.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREM', KEYS[1], ARGV[1])
local others = redis.call('ZCARD', KEYS[1])
if ARGV[2] == '1' then
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {others}
