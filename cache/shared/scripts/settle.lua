-- Purges everything if the server was restarted: what it saved before may lack purges.
-- KEYS: state. ARGV: id of this run of the server.
local clock = redis.call('TIME')
local state = redis.call('HMGET', KEYS[1], 'run', 'newest')
if state[1] == ARGV[1] then
  return {0}
end
local number = string.format('%.0f', math.max(clock[1] * 1000000 + clock[2], tonumber(state[2] or 0) + 1))
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'all', number, 'newest', number)
return {1}
