import fc from "fast-check";
import { expect, test, vi } from "vitest";

import { runs } from "../../../../tests/kit/runs.ts";
import { isServerName, nameTools } from "./tool-names.ts";
import type { NamedTool } from "./tool-names.ts";

// Thousands of cases, on a machine that may do other things as well.
vi.setConfig({ testTimeout: 120_000 });

const tool = fc.oneof(
  fc.constantFrom("get.user", "get/user", "get_user", "get user", "", "ä", "ö", "x".repeat(70)),
  fc.string({ unit: fc.constantFrom("a", "_", "-", ".", "é", "\u{1F600}", "\n"), maxLength: 80 }),
);
const server = fc.constantFrom("a", "github", "my-server", "z".repeat(32));

function nameOf(named: NamedTool): string | undefined {
  return "name" in named ? named.name : undefined;
}

test("names are safe, begin with the server's, are never shared, and don't depend on the order", async () => {
  const count = runs(1_000, 100_000);
  let suffixed = 0;
  await fc.assert(
    fc.asyncProperty(server, fc.array(tool, { maxLength: 12 }), async (name, tools) => {
      const named = await nameTools(name, tools);
      const names = named.map(nameOf).filter((given) => given !== undefined);

      expect(named.map((entry) => entry.tool)).toEqual(tools);
      expect(new Set(names).size).toBe(names.length);
      for (const given of names) {
        expect(given).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(given.startsWith(`${name}_`)).toBe(true);
        if (/_[0-9a-f]{8}$/.test(given)) suffixed += 1;
      }
      const distinct = [...new Set(tools)];
      const turned = await nameTools(name, distinct.toReversed());
      expect(turned.toReversed()).toEqual(await nameTools(name, distinct));
    }),
    { numRuns: count },
  );
  console.log(`count: ${count} lists of tools, ${suffixed} names with a hash`);
});

test("servers of different names never make the same tool name", async () => {
  const count = runs(3_000, 300_000);
  const word = fc.string({ unit: fc.constantFrom("a", "-", "_"), minLength: 1, maxLength: 4 });
  const names = fc.uniqueArray(word.filter(isServerName), { minLength: 2, maxLength: 2 });
  const tools = fc.array(word, { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(names, tools, tools, async ([one = "", other = ""], left, right) => {
      const taken = new Set((await nameTools(one, left)).map(nameOf));
      for (const named of await nameTools(other, right)) {
        const name = nameOf(named);
        if (name !== undefined) expect(taken.has(name)).toBe(false);
      }
    }),
    { numRuns: count },
  );
  console.log(`count: ${count} pairs of servers`);
});
