import { describe, expect, it } from "vitest";
import { inputId, partId, sessionUid } from "../ids.ts";
import { begin, end, openInboxFixture } from "../testing/inbox-fixture.ts";
import type { Nudge } from "../ports/event-log.ts";

const tried = inputId("input_K");

describe("an inbox", () => {
  it("names an input and its run by the caller's key", async () => {
    const { open, store, uid } = await openInboxFixture();

    const posted = await open().send("hello", { key: "K" });

    expect(posted).toEqual({
      accepted: true,
      inputId: "input_K",
      runId: "run_K",
      n: 1,
      replayed: false,
    });
    expect(await store.read(uid)).toMatchObject([
      { inputId: "input_K", input: { kind: "prompt", parts: [{ kind: "text", text: "hello" }] } },
    ]);
  });

  it("answers a repeat by key with the first answer, in whichever process it is made", async () => {
    const { open, count } = await openInboxFixture();
    await open().send("hello", { key: "K", options: { limits: { turns: 1 } } });

    const again = await open().send("hello", { key: "K", options: { limits: { turns: 1 } } });

    expect(again).toMatchObject({ accepted: true, inputId: "input_K", n: 1, replayed: true });
    expect(await count("input_accepted")).toBe(1);
  });

  it("refuses a key that was used for another text, kind or options, and stores nothing", async () => {
    const { open, count } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });

    const others = [
      await inbox.send("other", { key: "K" }),
      await inbox.steer("hello", { key: "K" }),
      await inbox.send("hello", { key: "K", options: {} }),
    ];

    expect(others).toMatchObject(
      others.map(() => ({ accepted: false, reason: "key_reused", error: { code: "refused" } })),
    );
    expect(await count("input_accepted")).toBe(1);
  });

  it("refuses a key outside its alphabet with a hint how to mend it, and leaves it unused", async () => {
    const { open, store, uid } = await openInboxFixture();
    const inbox = open();

    for (const key of ["K_1_0", "", "a b", "ä", "a.b", "k".repeat(129), "K\n"]) {
      const refused = await inbox.send("hello", { key });
      expect(refused).toMatchObject({ accepted: false, reason: "invalid" });
      expect(refused).toMatchObject({ error: { code: "invalid_id" } });
    }

    const refused = await inbox.send("hello", { key: "K_1_0" });
    expect(!refused.accepted && refused.error.message).toMatch(/"K_1_0".*write - in its place/);
    expect(await store.head(uid)).toBe(0);
    expect(await inbox.send("hello", { key: "k".repeat(128) })).toMatchObject({ accepted: true });
  });

  it("checks the key of a call that is once by nature too", async () => {
    const { open } = await openInboxFixture();
    const inbox = open();

    for (const refused of [
      await inbox.takeBack("input_1", { key: "a_b" }),
      await inbox.allow("approval_1", { key: "a_b" }),
      await inbox.answer({ callId: "c" }, { output: 1 }, { key: "a_b" }),
      await inbox.abort({ key: "a_b" }),
    ]) {
      expect(refused).toMatchObject({ accepted: false, reason: "invalid" });
    }
  });

  it("stores what it is sent in the order of the calls, though a content comes late", async () => {
    const { open, store, uid } = await openInboxFixture();
    const inbox = open();
    const { promise, resolve } = Promise.withResolvers<string>();

    const posts = [
      inbox.send(() => promise, { key: "1" }),
      inbox.steer("now", { key: "2" }),
      inbox.followUp([{ kind: "text", id: partId("p"), text: "then" }], { key: "3" }),
      inbox.takeBack("input_2"),
    ];
    resolve("first");
    const posted = await Promise.all(posts);

    expect(posted.map((one) => one.accepted && "n" in one && one.n)).toEqual([1, 2, 3, 4]);
    const facts = await store.read(uid);
    expect(facts.map((fact) => "input" in fact && "kind" in fact.input && fact.input.kind)).toEqual(
      ["prompt", "steer", "follow_up", false],
    );
    expect(posted[1]).not.toHaveProperty("runId");
  });

  it("makes an id where there is no key, and refuses one that a key could not be", async () => {
    const { open, count } = await openInboxFixture();

    expect(await open({ makeId: undefined }).send("a")).toMatchObject({ accepted: true });
    expect(await open().send("b")).toMatchObject({ inputId: "input_1", runId: "run_1" });
    expect(await open({ makeId: () => "input_K_1_0" }).send("c")).toMatchObject({
      accepted: false,
      reason: "invalid",
    });
    expect(await count("input_accepted")).toBe(2);
  });

  it("takes no id that was made for another input, though a key spells it", async () => {
    const { open, count } = await openInboxFixture();
    const inbox = open({ makeId: undefined });
    const made = await inbox.send("secret");
    const spelled = made.accepted ? made.inputId.slice("input_".length) : "";

    const refused = await inbox.send("other", { key: spelled });

    expect(refused).toMatchObject({ accepted: false, reason: "key_reused" });
    expect(await count("input_accepted")).toBe(1);
  });

  it("takes back an input that waits, once, and none that is an item or not there", async () => {
    const { open, claim, append, count } = await openInboxFixture();
    const inbox = open();
    await inbox.send("a", { key: "a" });
    await inbox.send("b", { key: "b" });
    await claim();
    await append(...begin(inputId("input_b")));

    const first = await inbox.takeBack("input_a", { actor: { user: "ann" } });
    const again = await open().takeBack("input_a");
    const late = await inbox.takeBack("input_b");
    const unknown = await inbox.takeBack("input_c");

    expect(first).toEqual({ accepted: true, inputId: "input_a", n: 7, replayed: false });
    expect(again).toEqual({ accepted: true, inputId: "input_a", n: 7, replayed: true });
    expect(late).toMatchObject({ accepted: false, reason: "settled" });
    expect(unknown).toMatchObject({ accepted: false, reason: "unknown" });
    expect(await count("queue_updated")).toBe(1);
  });

  it("stores the actor of a call, else its own, and takes a repeat by another for a repeat", async () => {
    const { open, store, uid } = await openInboxFixture();
    const inbox = open({ actor: { user: "ann", via: "http" } });
    await inbox.send("hello", { key: "K" });
    await inbox.send("hi", { key: "L", actor: { user: "ben" } });
    await open().send("hey", { key: "M" });

    const again = await open({ actor: { user: "eve" } }).send("hello", { key: "K" });

    expect(again).toMatchObject({ accepted: true, n: 1, replayed: true });
    const facts = await store.read(uid);
    expect(facts.map((fact) => "actor" in fact && fact.actor)).toEqual([
      { user: "ann", via: "http" },
      { user: "ben" },
      false,
    ]);
  });

  it("refuses an actor beyond its limits", async () => {
    const { open, store, uid } = await openInboxFixture();
    const long = [
      { user: "" },
      { user: "u".repeat(257) },
      { user: "\ud800" },
      { user: "ann", via: "v".repeat(257) },
      { user: "ann", via: "" },
    ];

    for (const actor of long) {
      expect(await open({ actor }).send("hello")).toMatchObject({
        accepted: false,
        reason: "invalid",
      });
    }

    expect(await store.head(uid)).toBe(0);
    const longest = { user: "u".repeat(256), via: "v".repeat(256) };
    expect(await open().send("hello", { actor: longest })).toMatchObject({ accepted: true });
  });

  it("answers for a session that is not there, and for a store that fails", async () => {
    const { open, store } = await openInboxFixture();
    const nowhere = open({ uid: sessionUid("nowhere") });
    const accept = async (): Promise<never> => {
      throw new Error("connection refused");
    };
    const away = open({ store: { ...store, accept } });

    expect(await nowhere.send("hello")).toMatchObject({ accepted: false, reason: "unknown" });
    expect(await nowhere.abort()).toMatchObject({ accepted: false, reason: "unknown" });
    expect(await away.send("hello", { key: "K" })).toMatchObject({
      accepted: false,
      reason: "failed",
      error: { code: "broken_port" },
    });
    expect(await open().send("hello", { key: "K" })).toMatchObject({ replayed: false });
  });

  it("refuses options that are not plain JSON, and a content that can't be read", async () => {
    const { open, store, uid } = await openInboxFixture();
    const cyclic: Record<string, never> = {};
    cyclic["self"] = cyclic as never;

    const refused = [
      await open().send("hello", { options: cyclic }),
      await open().abort({ reason: "\ud800" }),
      await open().send(async () => {
        throw new Error("the file is gone");
      }),
    ];

    expect(refused.map((one) => !one.accepted && one.reason)).toEqual([
      "invalid",
      "invalid",
      "failed",
    ]);
    expect(await store.head(uid)).toBe(0);
  });

  it("announces what is stored, a repeat too, and nudges writers after a stop", async () => {
    const { open, log, uid, claim, append } = await openInboxFixture();
    const tail = (await log.tail(uid))[Symbol.asyncIterator]();
    const nudges = (await log.nudges(uid))[Symbol.asyncIterator]();
    const inbox = open();

    await inbox.send("hello", { key: "K" });
    await inbox.send("hello", { key: "K" });
    expect((await tail.next()).value).toMatchObject({ n: 1, inputId: "input_K" });
    expect((await tail.next()).value).toMatchObject({ n: 1, inputId: "input_K" });
    await claim();
    await append(...begin(tried));
    await inbox.abort();

    expect((await tail.next()).value).toMatchObject({ input: { kind: "abort", runId: "run_K" } });
    expect((await nudges.next()).value).toEqual({ kind: "abort" } satisfies Nudge);
  });

  it("accepts what is stored while the log fails or hangs", async () => {
    const { open, count } = await openInboxFixture();
    const fails = async (): Promise<never> => {
      throw new Error("no log");
    };
    const throws = (): never => {
      throw new Error("no log at all");
    };
    const hangs = (): Promise<never> => new Promise(() => undefined);
    for (const [at, way] of [fails, throws, hangs].entries()) {
      const inbox = open({ log: { announce: way, nudge: way } });
      expect(await inbox.send("hello", { key: `K${at}` })).toMatchObject({ accepted: true });
    }

    expect(await count("input_accepted")).toBe(3);
  });

  it("settles announced when the log has taken all that was stored", async () => {
    const { open, log } = await openInboxFixture();
    const announced: number[] = [];
    const slow = async (_uid: unknown, { n }: { n: number }): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      announced.push(n);
    };
    const inbox = open({ log: { nudge: log.nudge, announce: slow } });

    void inbox.send("a");
    void inbox.send("b");
    await inbox.announced();

    expect(announced).toEqual([1, 2]);
  });

  it("takes a key that a stop of nothing was made with", async () => {
    const { open, claim, append, count } = await openInboxFixture();
    const inbox = open();

    expect(await inbox.abort({ key: "K" })).toEqual({ accepted: true, replayed: false });
    expect(await count("input_accepted")).toBe(0);
    await inbox.send("hello", { key: "K" });
    await claim();
    await append(...begin(tried), end(tried));
    expect(await inbox.abort({ runId: "run_K" })).toEqual({ accepted: true, replayed: false });
    expect(await count("input_accepted")).toBe(1);
  });
});
