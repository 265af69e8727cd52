-- Releases a fill lock, and stores the value that was loaded under it if there is one for other replicas.
-- KEYS: state, value, lock. ARGV: prefix of marks, token, channel, notice, seconds of a mark; then of a value: number of
-- the newest purge before its load, tags, age, time fresh, time fresh or stale and whole life in microseconds,
-- milliseconds left of that, body.
local lock = redis.call('HMGET', KEYS[3], 'token', 'awaited')
if lock[1] ~= ARGV[2] then
  return {'late'} -- another replica has the lock, or may have had it
end
redis.call('DEL', KEYS[3])
local outcome = 'none'
if #ARGV > 5 then
  outcome = 'purged'
  local number, tags = tonumber(ARGV[6]), ARGV[7]
  local all = redis.call('HGET', KEYS[1], 'all')
  local valid, names = all and number >= tonumber(all), {}
  for at = 1, #tags, 43 do
    names[#names + 1] = ARGV[1] .. string.sub(tags, at, at + 42)
  end
  local marks = redis.call('MGET', unpack(names))
  for _, mark in ipairs(marks) do
    if mark and number < tonumber(string.match(mark, '^(%d+) ')) then
      valid = false
    end
  end
  if valid then
    for i, name in ipairs(names) do
      if marks[i] then
        redis.call('EXPIRE', name, ARGV[5])
      else
        redis.call('SET', name, ARGV[6] .. ' 0', 'EX', ARGV[5])
      end
    end
    local clock = redis.call('TIME')
    local loaded = string.format('%.0f', clock[1] * 1000000 + clock[2] - tonumber(ARGV[8]))
    redis.call('HSET', KEYS[2], 'number', ARGV[6], 'tags', tags, 'loaded', loaded, 'fresh', ARGV[9], 'stale', ARGV[10], 'whole', ARGV[11], 'body', ARGV[13])
    redis.call('PEXPIRE', KEYS[2], ARGV[12])
    outcome = 'kept'
  end
end
if lock[2] then
  redis.call('PUBLISH', ARGV[3], ARGV[4])
end
return {outcome}
