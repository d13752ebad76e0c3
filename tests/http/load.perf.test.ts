import { httpLoadCases, httpSlowCases, startHttpRun } from "@millrace/conformance/http";
import type { HttpCase } from "@millrace/conformance/http";
import { describe, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { engineBackend } from "./kit/engine-backend.ts";
import { memoryBackend, openSuiteTarget } from "./kit/suite-target.ts";
import type { Backend } from "./kit/suite-target.ts";

const isCampaign = process.env["CAMPAIGN"] === "1";
const scale = isCampaign ? 40 : 1; // 13: 20,000 posts

function declare(one: HttpCase, open: () => Backend | Promise<Backend>): void {
  it(`${one.number}: ${one.name}`, { timeout: patience }, async () => {
    await using target = await openSuiteTarget("node", await open());
    using run = startHttpRun(target, scale);
    await one.run(run);
  });
}

describe("bare Node, memory, one case at a time", () => {
  for (const one of httpLoadCases) declare(one, memoryBackend);
});

describe("bare Node, PostgreSQL and Redis, one case at a time", () => {
  for (const one of httpLoadCases.filter(({ number }) => number === 26 || number === 42))
    declare(one, engineBackend);
});

// A minute each: for each change the same cases run with shorter times.
if (isCampaign)
  describe.concurrent("bare Node, memory, as slow as the API is", () => {
    for (const one of httpSlowCases) declare(one, memoryBackend);
  });
