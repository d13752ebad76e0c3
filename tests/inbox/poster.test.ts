import { sessionId } from "@millrace/core/writing";
import type { Decided, Fact, Posted, Stopped } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { expect, it } from "vitest";
import { startChild } from "../../packages/stores/src/testing/child.ts";
import type { Child } from "../../packages/stores/src/testing/child.ts";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";

const name = sessionId("posted");

interface Posting {
  /** Makes a call in the process that posts. */
  readonly post: <T>(...call: readonly unknown[]) => Promise<T>;
  /** Starts the process that drives. */
  readonly drive: () => Promise<Child>;
  readonly store: PostgresStore;
  readonly facts: () => Promise<readonly Fact[]>;
  readonly incarnation: () => Promise<number | undefined>;
}

/** A session, a process that only posts, and a process that drives once it is started. */
async function withPoster(run: (posting: Posting) => Promise<void>): Promise<void> {
  await using database = await sharedPostgres();
  const { url, prefix } = await sharedRedis();
  await using store = postgresStore({ url: database.url });
  await store.migrate();
  const { uid } = await store.create({ sessionId: name });
  const start = async (program: string): Promise<Child> => {
    const path = new URL(program, import.meta.url).href;
    const child = startChild(path, name, database.url, url, prefix);
    await child.hasPrinted(1);
    return child;
  };
  await using poster = await start("poster.ts");
  await run({
    post: async (...call) => JSON.parse(await poster.ask(JSON.stringify(call))) as never,
    drive: () => start("driver.ts"),
    store,
    facts: () => store.read(uid),
    incarnation: async () => (await store.find(name))?.incarnation,
  });
}

it("a process without an agent sends, steers, decides and stops in a session that another drives", async () => {
  await withPoster(async ({ post, drive, store, facts, incarnation }) => {
    // Before there is a driver: stored, and nothing claimed.
    const first = await post<Posted>("send", "hello", { key: "q1" });
    expect(first).toEqual({
      accepted: true,
      inputId: "input_q1",
      runId: "run_q1",
      n: 1,
      replayed: false,
    });
    expect(await incarnation()).toBe(0);
    await using driver = await drive();
    const greeted = await post<FactOf<"run_finished">>("until", "run_finished", first.n);
    expect(greeted).toMatchObject({ runId: "run_q1", outcome: "completed" });

    // A question, steered while it waits, then allowed.
    const second = await post<Posted>("send", "refund it", { key: "q2" });
    const asked = await post<FactOf<"approval_requested">>("until", "approval_requested", second.n);
    await post("steer", "and say it in one word", { key: "s2" });
    const allowed = await post<Decided>("allow", asked.approvalId, { hash: asked.hash });
    expect(allowed).toMatchObject({ decision: "allow", actor: { user: "ann", via: "poster" } });
    const refunded = await post<FactOf<"run_finished">>("until", "run_finished", asked.n);
    expect(refunded).toMatchObject({ runId: "run_q2", outcome: "completed" });

    // A question that is denied; the opposite comes too late.
    const third = await post<Posted>("send", "once more", { key: "q3" });
    const again = await post<FactOf<"approval_requested">>("until", "approval_requested", third.n);
    await post("deny", again.approvalId, { reason: "enough" });
    expect(await post("allow", again.approvalId)).toMatchObject({ reason: "settled" });
    const denied = await post<FactOf<"run_finished">>("until", "run_finished", again.n);

    // A run that never ends by itself; a prompt behind it is taken back, the run is stopped.
    const fourth = await post<Posted>("send", "think", { key: "q4" });
    const waiting = await post<Posted>("followUp", "then this", { key: "f4" });
    await post("takeBack", waiting.inputId);
    await post("until", "turn_started", denied.n);
    const begun = performance.now();
    const stopped = await post<Stopped>("abort", { reason: "stop button" });
    expect(stopped).toEqual({ accepted: true, runId: "run_q4", replayed: false });
    const ended = await post<FactOf<"run_finished">>("until", "run_finished", fourth.n);
    const ms = Math.round(performance.now() - begun);
    console.log(`count: a stop by another process ends the run after ${ms} ms, 1, 0 failures`);
    expect(ended).toMatchObject({ runId: "run_q4", outcome: "aborted" });

    const stored = await facts();
    expect(stored.filter(({ type }) => type === "session_claimed")).toHaveLength(1);
    expect(await incarnation()).toBe(1);
    const texts = stored.flatMap((fact) => (fact.type === "item_committed" ? [textOf(fact)] : []));
    expect(texts.slice(0, 12)).toEqual([
      "user: hello",
      "model: Hello.",
      "user: refund it",
      "model: ",
      "tool: paid back 9000",
      "user: and say it in one word",
      "model: Refunded.",
      "user: once more",
      "model: ",
      expect.stringMatching(/^tool: .*enough/s) as string,
      "model: Not refunded.",
      "user: think",
    ]);
    const people = stored.filter((fact) => isOfPeople(fact));
    expect(people.every((fact) => fact.actor?.user === "ann")).toBe(true);
    expect(await store.verify(name)).toMatchObject({ ok: true });
    driver.kill("SIGTERM");
  });
});

it("what it loads is core and stores, no agent, no provider, no server", async () => {
  await withPoster(async ({ post, incarnation }) => {
    await post("send", "hello", { key: "q1" });
    await post("steer", "more", { key: "s1" });
    await post("abort", { runId: "run_q1" });

    const modules = await post<readonly string[]>("modules");

    const folders = new Set(
      modules
        .map((url) => /\/packages\/([^/]+)\/src\//.exec(url)?.[1])
        .filter((own) => own !== undefined),
    );
    expect([...folders].toSorted()).toEqual(["core", "stores"]);
    expect(modules.filter((url) => url.includes("/core/src/inbox/")).length).toBeGreaterThan(5);
    expect(await incarnation()).toBe(0);
  });
});

function textOf({ item }: FactOf<"item_committed">): string {
  const texts = item.parts.map((part) => ("text" in part ? part.text : ""));
  return `${item.author}: ${texts.join("")}`;
}

function isOfPeople(
  fact: Fact,
): fact is FactOf<"input_accepted" | "queue_updated" | "approval_resolved"> {
  return ["input_accepted", "queue_updated", "approval_resolved"].includes(fact.type);
}
