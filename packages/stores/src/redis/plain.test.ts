import { expect, it } from "vitest";
import { redisLog } from "./redis-log.ts";
import type { RedisLogOptions } from "./redis-log.ts";

const refused: unknown = expect.objectContaining({
  code: "invalid_definition",
  message: expect.stringMatching(/is not encrypted.*use rediss:\/\/.*allowPlain: true/) as unknown,
});

it.each([
  { url: "redis://cache.example.com:6379" },
  { url: "redis://u:p@10.0.0.5" },
  { cluster: ["redis://127.0.0.1:1", "redis://cache.example.com:6379"] },
  { client: { url: "redis://cache.example.com" } },
  { client: { socket: { host: "cache.example.com", port: 6_379 } } },
] as const satisfies readonly RedisLogOptions[])(
  "a log does not connect to %j without TLS unless that is allowed",
  async (options: RedisLogOptions) => {
    expect(() => redisLog(options)).toThrow(refused);
    await using log = redisLog({ ...options, allowPlain: true });
    expect(log.setKey).toBeDefined();
  },
);

it.each([
  { url: "rediss://cache.example.com:6379" },
  { url: "redis://localhost:6379" },
  { url: "redis://[::1]:6379" },
  { client: { socket: { host: "cache.example.com", port: 6_379, tls: true } } },
] as const satisfies readonly RedisLogOptions[])(
  "a log takes %j",
  async (options: RedisLogOptions) => {
    await using log = redisLog(options);
    expect(log.setKey).toBeDefined();
  },
);
