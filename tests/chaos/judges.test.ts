/** Each rule beside those of `oracle.test.ts` is seen to fail. */
import { replay, emptyState } from "@millrace/core/reading";
import type { ClientView } from "@millrace/client";
import { describe, expect, it } from "vitest";
import { sealed } from "../kit/deployment/paced-agent.ts";
import type { ProcessStats } from "../kit/deployment/process-stats.ts";
import { GivenPromises } from "../kit/given-promises.ts";
import { judgeCallers, judgeFiles } from "./judge-callers.ts";
import type { Callers } from "./judge-callers.ts";
import { judgePages } from "./judge-pages.ts";
import type { SeenByPages } from "./judge-pages.ts";
import { judgeResources } from "./judge-resources.ts";
import type { IdleProcess } from "./judge-resources.ts";
import type { Violation } from "./oracle.ts";
import { isAnswer } from "./readers/reader.ts";
import { recordHistory } from "./recorded-history.ts";

const kindsOf = (found: readonly Violation[]): readonly string[] => found.map(({ kind }) => kind);

describe("pages", async () => {
  const { history } = await recordHistory();
  const { uid, sessionId, facts } = history;
  const shown = (count: number): ClientView => {
    const { items, head } = replay(emptyState(uid, sessionId), facts.slice(0, count));
    return { items: items.toArray(), head, connection: "live" } as unknown as ClientView; // what is judged
  };
  const whole: SeenByPages = {
    facts,
    pages: [{ page: 0, id: sessionId, view: shown(facts.length) }],
    results: [{ session: sessionId, key: "plain", outcome: "completed" }],
  };

  it("that show what is stored are fine", () => {
    expect(judgePages(whole)).toEqual([]);
  });

  it("that lack a fact are found", () => {
    const pages = [{ page: 0, id: sessionId, view: shown(facts.length - 1) }];
    expect(kindsOf(judgePages({ ...whole, pages }))).toEqual(["page behind"]);
  });

  it("that show another text are found", () => {
    const view = { ...shown(facts.length), items: shown(facts.length).items.slice(0, -1) };
    const pages = [{ page: 0, id: sessionId, view }];
    expect(kindsOf(judgePages({ ...whole, pages }))).toEqual(["page differs"]);
  });

  it("that show nothing are found", () => {
    const pages = [{ page: 0, id: sessionId, view: { ...shown(facts.length), items: [] } }];
    expect(kindsOf(judgePages({ ...whole, pages }))).toEqual(["page differs"]);
  });

  it("with another result than is stored are found", () => {
    const results = [{ session: sessionId, key: "plain", outcome: "failed" }];
    expect(kindsOf(judgePages({ ...whole, results }))).toEqual(["result differs"]);
  });
});

describe("callers", () => {
  const none: Callers = { sent: [], open: [], readings: [] };

  it("with a promise that does not settle are found, and no others", async () => {
    let now = 0;
    const given = new GivenPromises(() => now);
    await given.watch("one that resolves", Promise.resolve());
    await given.watch("one that rejects", Promise.reject(new Error("no"))).catch(() => undefined);
    void given.watch("one that does neither", new Promise(() => undefined));

    now = 90_000;

    expect(given.areSettled).toBe(false);
    expect(judgeCallers({ ...none, open: given.open() })).toEqual([
      { kind: "promise open", what: "one that does neither is open for 90 s" },
    ]);
  });

  it("whose command was never answered are found", () => {
    const command = { call: "abort", key: "k", session: "s" } as const;
    const sent = [
      { ...command, outcome: "unknown" },
      { ...command, outcome: "refused" },
    ] as const;
    expect(kindsOf(judgeCallers({ ...none, sent }))).toEqual(["given up"]);
  });

  it("that hold something else than the answer, or wait for it, are found", () => {
    const reading = { name: "responses", answers: 1, faults: ["spliced"], open: "k" };
    const found = judgeCallers({ ...none, readings: [reading] });
    expect(kindsOf(found)).toEqual(["reader differs", "reader waits"]);
  });

  it("have the answer only if it is whole, and of one attempt", () => {
    const whole = sealed("answer to k, item 1 The race turns the wheel");
    expect(isAnswer(whole, "k")).toBe(true);
    expect(isAnswer(whole, "other")).toBe(false);
    expect(isAnswer(whole.slice(0, -1), "k")).toBe(false);
    expect(isAnswer(whole.slice(0, 20) + whole, "k")).toBe(false);
  });

  it("whose file is lost or cut are found", () => {
    const files = ["", sealed("a list").slice(1), sealed("a list")];
    const found = judgeFiles(files.map((text, at) => ({ name: String(at), text })));
    expect(found.map(({ what }) => what[0])).toEqual(["0", "1"]);
  });
});

describe("a process", () => {
  const stats: ProcessStats = {
    cpuMs: 1_000,
    heapBytes: 50e6,
    resources: { TCPSocketWrap: 2, Timeout: 5 },
  };
  const judge = (more: Partial<ProcessStats>): readonly string[] => {
    const after = [stats, { ...stats, ...more }] as const;
    const idle: IdleProcess = { name: "web-0", before: stats, after, ms: 2_000 };
    return kindsOf(judgeResources([idle]));
  };

  it("that is as at its start is fine", () => {
    expect(judge({ cpuMs: 1_100 })).toEqual([]);
  });

  it.each<[string, Partial<ProcessStats>, string]>([
    ["works at rest", { cpuMs: 2_500 }, "works at rest"],
    ["keeps connections", { resources: { TCPSocketWrap: 40 } }, "holds more"],
    ["keeps timers", { resources: { Timeout: 50 } }, "holds more"],
    ["keeps memory", { heapBytes: 500e6 }, "heap grew"],
  ])("that %s is found", (_, more, kind) => {
    expect(judge(more)).toEqual([kind]);
  });
});
