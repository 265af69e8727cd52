-- Takes cost from a token bucket, if it holds that much. KEYS: bucket. ARGV: cost, capacity and what the caller knows to be
-- spent, all as the microseconds that refilling takes.
-- Returns what is spent now, and how long to wait until the bucket holds the cost: 0 when it was taken.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local cost, capacity, known = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now + known, now)
local spent = math.min(full - now, capacity)
if spent + cost > capacity then
  return {spent, spent + cost - capacity}
end
spent = spent + cost
redis.call('SET', KEYS[1], string.format('%.0f', now + spent), 'PX', math.ceil(spent / 1000))
return {spent, 0}
