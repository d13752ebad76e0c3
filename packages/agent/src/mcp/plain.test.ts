import { expect, it } from "vitest";
import { openMcp } from "./open-mcp.ts";

/** Opens a server that answers every request with an error, and returns the hosts that were asked. */
async function open(
  url: string,
  allowPlain?: boolean,
): Promise<{ readonly error: unknown; readonly hosts: readonly string[] }> {
  const hosts = new Set<string>();
  const fetch: typeof globalThis.fetch = async (input) => {
    hosts.add(new URL(input instanceof Request ? input.url : input).hostname);
    return new Response("no", { status: 400 });
  };
  const error: unknown = await openMcp({ name: "s", url, fetch, allowPlain }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { error, hosts: [...hosts] };
}

it.each(["http://tools.example.com/mcp", "http://10.0.0.5:8000/mcp", "http://[fe80::1]/mcp"])(
  "no server is opened at %s, which is not encrypted, unless that is allowed",
  async (url) => {
    for (const allowPlain of [undefined, false]) {
      const { error, hosts } = await open(url, allowPlain);

      expect(hosts).toEqual([]);
      expect(error).toMatchObject({
        code: "invalid_definition",
        message: expect.stringMatching(
          /is not encrypted.*use https:\/\/.*allowPlain: true/,
        ) as unknown,
      });
    }
    expect((await open(url, true)).hosts).toEqual([new URL(url).hostname]);
  },
);

it.each(["https://tools.example.com/mcp", "http://localhost:9/mcp", "http://[::1]:9/mcp"])(
  "a server at %s is asked",
  async (url) => {
    expect((await open(url)).hosts).toEqual([new URL(url).hostname]);
  },
);
