/** Runs that kill their process, in a store of files: a process is started again until one goes on living. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startChild } from "../../packages/stores/src/testing/child.ts";
import { bundleProgram } from "../kit/deployment/bundle.ts";
import type { InlineConfig } from "./inline-child.ts";
import { countHits, harmless } from "./poison-agent.ts";
import type { Poison } from "./poison-agent.ts";

/** More than any run may take, and fewer than for ever. */
const mostStarts = 9;

/** The program in one file, because it is started often. */
let program = "";
const programFolder = mkdtempSync(join(tmpdir(), "millrace-poison-program-"));
beforeAll(async () => {
  const file = join(programFolder, "inline.mjs");
  program = pathToFileURL(
    await bundleProgram(new URL("./inline-child.ts", import.meta.url), file),
  ).href;
});
afterAll(() => rmSync(programFolder, { recursive: true, force: true }));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-poison-"));
  writeFileSync(join(folder, "hits"), "");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts processes for one prompt until one of them lives to print its end. Returns that line. */
async function outlive(
  poison: Omit<Poison, "hits">,
  prompt = "go",
  key = "first",
): Promise<unknown> {
  const config: InlineConfig = {
    ...poison,
    hits: join(folder, "hits"),
    folder: join(folder, "sessions"),
    prompt,
    key,
  };
  for (let starts = 0; starts < mostStarts; starts += 1) {
    await using child = startChild(program, JSON.stringify(config));
    await child.gone;
    const [line] = child.printed;
    if (line !== undefined) return JSON.parse(line) as unknown;
  }
  return `each of ${mostStarts} processes was killed`;
}

const hits = (): ReturnType<typeof countHits> => countHits(join(folder, "hits"));

describe("a run whose reply kills its process", { timeout: 120_000 }, () => {
  it("asks the model once under a limit that one lost request reaches", async () => {
    const limits = { turns: 1, tokens: 10, cost: 0.000_1 };

    expect(await outlive({ kills: "reply", limits })).toEqual({
      outcome: "limited",
      limit: "tokens",
    });
    expect(hits().reply).toBe(1);
  });

  it("asks the model five times without limits, and fails; the next prompt is answered", async () => {
    const ended = await outlive({ kills: "reply" });

    expect(ended).toMatchObject({ outcome: "failed", cause: { code: "driver_lost" } });
    expect(hits().reply).toBe(5);
    expect(await outlive({ kills: "reply" }, harmless, "second")).toEqual({ outcome: "completed" });
  });
});

it(
  "a run whose tool kills its process fails after five calls of it",
  { timeout: 120_000 },
  async () => {
    const ended = await outlive({ kills: "tool" });

    expect(ended).toMatchObject({ outcome: "failed", cause: { code: "driver_lost" } });
    expect(hits()).toEqual({ reply: 1, tool: 5 });
  },
);
