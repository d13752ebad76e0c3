import { httpCasesFor, startHttpRun, undescribed } from "@millrace/conformance/http";
import type { HttpNeed, HttpRun, HttpTarget } from "@millrace/conformance/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMillrace } from "@millrace/server";
import { createSuiteAgent } from "./agent.ts";

/** Runs the cases on a target: all at once, but for those that take the store away. */
export function runSuite(
  name: string,
  open: () => Promise<HttpTarget>,
  gives: readonly HttpNeed[] = ["servers", "outage", "sockets"],
): void {
  describe(name, () => {
    let run: HttpRun;
    beforeAll(async () => {
      run = startHttpRun(await open(), process.env["CAMPAIGN"] === "1" ? 40 : 1);
    });
    afterAll(async () => {
      run[Symbol.dispose]();
      await run.target[Symbol.asyncDispose]();
    });
    // What a target gives is known once it is open, and tests are declared before.
    const cases = httpCasesFor({ gives });
    const disturbs = cases.filter(({ needs }) => needs.includes("outage"));
    describe.concurrent("at once", () => {
      for (const one of cases.filter((candidate) => !disturbs.includes(candidate)))
        it(`${one.number}: ${one.name}`, () => one.run(run));
    });
    for (const one of disturbs) it(`${one.number}: ${one.name}`, () => one.run(run));
    it("86: the OpenAPI document describes every answer that was seen", () => {
      const document = createMillrace({
        agent: createSuiteAgent(),
        authenticate: () => undefined,
      }).openapi();
      expect(run.seen.length).toBeGreaterThan(0);
      expect(undescribed(document, run.seen)).toEqual([]);
    });
  });
}
