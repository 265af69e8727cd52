-- Renews a fill lock. KEYS: lock. ARGV: token, milliseconds.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
  return {0}
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1}
