-- Takes a price off an account, if there is that much. KEYS: account. ARGV: price, what the account holds when it is
-- whole, and what the caller knows it to lack, all in microseconds.
-- Returns what it lacks now, and how long to wait for the price: 0 when it was paid.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local price, most, known = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local whole = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now + known, now)
local lack = math.min(whole - now, most)
if lack + price > most then
  return {lack, lack + price - most}
end
lack = lack + price
redis.call('SET', KEYS[1], string.format('%.0f', now + lack), 'PX', math.ceil(lack / 1000))
return {lack, 0}
