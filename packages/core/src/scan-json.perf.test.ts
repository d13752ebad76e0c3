import { expect, it, vi } from "vitest";
import { scanJson } from "./scan-json.ts";
import { growth, notQuadratic } from "../../../tests/kit/growth.ts";
import { patience } from "../../../tests/kit/patience.ts";

vi.setConfig({ testTimeout: patience });

const unlimited = { depth: Infinity, keys: Infinity, length: Infinity };
const megabyte = 1024 * 1024;

function keys(count: number): string {
  return Array.from({ length: count }, (_, key) => `"k${1e9 + key}":1`).join();
}

it.each<[string, (size: number) => string]>([
  ["one long string", (size) => `"${"x".repeat(size)}"`],
  ["escapes", (size) => `"${"\\n".repeat(size / 2)}"`],
  ["numbers", (size) => `[${"1234567,".repeat(size / 8)}0]`],
  ["long numbers", (size) => `[${`0.${"1".repeat(997)},`.repeat(size / 1_000)}0]`],
  ["white space", (size) => `${" ".repeat(size)}1`],
  ["objects", (size) => `[${'{"a":1},'.repeat(size / 8)}0]`],
  ["keys", (size) => `{${keys(size / 16)}}`],
])("scanning is linear from 1 MB to 4 MB: %s", async (_, make) => {
  const ratio = await growth(megabyte, (size) => {
    const text = make(size);
    return () => expect(scanJson(text, unlimited)).toBeUndefined();
  });

  expect(ratio).toBeLessThan(notQuadratic);
});
