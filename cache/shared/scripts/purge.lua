-- Numbers a purge, marks its keys and tags, and publishes it to the other replicas.
-- KEYS: state. ARGV: prefix of marks, seconds of a mark, channel, notice, hard or soft, then keys and tags; without any,
-- everything is purged.
local clock = redis.call('TIME')
local state = redis.call('HMGET', KEYS[1], 'all', 'newest')
local number = string.format('%.0f', math.max(clock[1] * 1000000 + clock[2], tonumber(state[2] or 0) + 1))
redis.call('HSET', KEYS[1], 'newest', number)
if #ARGV == 5 or not state[1] then
  redis.call('HSET', KEYS[1], 'all', number)
end
for i = 6, #ARGV do
  local name = ARGV[1] .. ARGV[i]
  local hard, soft = string.match(redis.call('GET', name) or '', '^(%d+) (%d+)$')
  if ARGV[5] == 'hard' then
    hard = number
  else
    soft = number
  end
  -- A mark that is gone may have been a hard purge, so it becomes one.
  redis.call('SET', name, (hard or number) .. ' ' .. (soft or 0), 'EX', ARGV[2])
end
redis.call('PUBLISH', ARGV[3], ARGV[4])
return {number}
