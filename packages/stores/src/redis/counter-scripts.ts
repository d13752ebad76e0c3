import { createHash } from "node:crypto";

/** A script of Redis, and the hash by which Redis knows it. */
export interface Script {
  readonly text: string;
  readonly hash: string;
}

/**
 * Adds an amount if it does not go above the limit. Gives whether it did, what is used, and the
 * milliseconds left. INCRBY and not a sum in Lua, whose numbers lose digits as texts.
 */
export const takeScript: Script = script(`
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = redis.call('PTTL', KEYS[1])
local amount = tonumber(ARGV[1])
local taken = 0
if used + amount <= tonumber(ARGV[2]) then
  taken = 1
  if amount > 0 then
    used = redis.call('INCRBY', KEYS[1], ARGV[1])
    if left < 0 then
      redis.call('PEXPIRE', KEYS[1], ARGV[3])
      left = tonumber(ARGV[3])
    end
  end
end
if left < 0 then left = tonumber(ARGV[3]) end
return {taken, used, left}
`);

/**
 * Holds a place until a time by Redis's clock. Gives 1, or 0 if all others are held. Members are named by
 * holder and process, and only when they reach the limit are holders counted one by one.
 */
export const holdScript: Script = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local limit = tonumber(ARGV[3])
if redis.call('ZCARD', KEYS[1]) >= limit then
  local holders, count = {}, 0
  for _, place in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local from, length = string.find(place, ':', 1, true), tonumber(string.match(place, '^%d+'))
    local holder = string.sub(place, from + 1, from + length)
    if not holders[holder] then count = count + 1 end
    holders[holder] = true
  end
  if not holders[ARGV[1]] and count >= limit then return 0 end
end
local ms = tonumber(ARGV[4])
redis.call('ZADD', KEYS[1], now + ms, #ARGV[1] .. ':' .. ARGV[1] .. ARGV[2])
if redis.call('PTTL', KEYS[1]) < ms then redis.call('PEXPIRE', KEYS[1], ms) end
return 1
`);

function script(text: string): Script {
  return { text, hash: createHash("sha1").update(text).digest("hex") };
}
