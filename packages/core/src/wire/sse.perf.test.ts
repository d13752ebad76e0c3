import { expect, it, vi } from "vitest";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { createSseDecoder } from "./sse.ts";

vi.setConfig({ testTimeout: patience });

function repeated(size: number, chunk: string): readonly string[] {
  return Array<string>(size).fill(chunk);
}

it.each<[string, (size: number) => readonly string[]]>([
  ["one line, letter by letter", (size) => ["data: ", ...repeated(size, "x"), "\n\n"]],
  ["many data lines of one event", (size) => [...repeated(size, "data: x\n"), "\n"]],
  ["many events in one chunk", (size) => ["data: x\n\n".repeat(size)]],
  ["comments", (size) => [`${": x\n".repeat(size)}data: x\n\n`]],
])("decoding is linear in the text: %s", async (_, make) => {
  const ratio = await growth(40_000, (size) => {
    const chunks = make(size);
    return () => {
      const decoder = createSseDecoder();
      expect(chunks.flatMap((chunk) => decoder.feed(chunk)).length).toBeGreaterThan(0);
    };
  });

  expect(ratio).toBeLessThan(notQuadratic);
});
