-- Returns a value or, if there is none of use, grants the fill lock to load it.
-- KEYS: state, value, lock. ARGV: prefix of marks, token of the caller, milliseconds of a lock, and what is wanted: fresh,
-- stale, none (the lock only), or any (no lock).
-- Returns "found", age in microseconds, 1 if purged softly, time fresh, time fresh or stale and whole life in
-- microseconds, body; or "granted" or "held", number of the newest purge, milliseconds left of the lock; or "none".
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local state = redis.call('HMGET', KEYS[1], 'all', 'newest')
if not (state[1] and state[2]) then -- new, or evicted: nothing from before counts
  local number = string.format('%.0f', now)
  redis.call('HSET', KEYS[1], 'all', number, 'newest', number)
  state = {number, number}
end

local value = redis.call('HMGET', KEYS[2], 'number', 'tags', 'loaded', 'fresh', 'stale', 'whole', 'body')
if value[7] then
  local number, names = tonumber(value[1]), {}
  for at = 1, #value[2], 43 do
    names[#names + 1] = ARGV[1] .. string.sub(value[2], at, at + 42)
  end
  local hard, soft = tonumber(state[1]), 0
  for _, mark in ipairs(redis.call('MGET', unpack(names))) do
    local ofHard, ofSoft = string.match(mark or '', '^(%d+) (%d+)$')
    hard = math.max(hard, tonumber(ofHard or math.huge)) -- an evicted mark may have been any
    soft = math.max(soft, tonumber(ofSoft or 0))
  end
  local age, ended = math.max(now - tonumber(value[3]), 0), number < soft
  local fresh, stale = tonumber(value[4]), tonumber(value[5])
  local usable = ARGV[4] ~= 'none' and age < fresh and not ended
  if ARGV[4] == 'any' or ARGV[4] == 'stale' and age < stale and stale > fresh then
    usable = true
  end
  if number >= hard and usable then
    return {'found', string.format('%.0f', age), ended and 1 or 0, value[4], value[5], value[6], value[7]}
  end
end

if ARGV[4] == 'any' then
  return {'none'}
end
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HSET', KEYS[3], 'awaited', 1)
  return {'held', state[2], redis.call('PTTL', KEYS[3])}
end
redis.call('HSET', KEYS[3], 'token', ARGV[2])
redis.call('PEXPIRE', KEYS[3], ARGV[3])
return {'granted', state[2], tonumber(ARGV[3])}
