import { describe, expect, it } from "vitest";
import { inputId } from "../ids.ts";
import {
  begin,
  end,
  openInboxFixture,
  placeOf,
  question,
  reply,
  result,
} from "../testing/inbox-fixture.ts";
import type { InboxFixture } from "../testing/inbox-fixture.ts";

const prompt = inputId("input_K");

/** A run whose first reply has two calls that a client answers. */
async function withCalls(): Promise<InboxFixture> {
  const fixture = await openInboxFixture();
  await fixture.open().send("hello", { key: "K" });
  await fixture.claim();
  await fixture.append(...begin(prompt), reply(prompt, ["call_1", "call_2"]));
  return fixture;
}

async function withQuestion(): Promise<InboxFixture> {
  const fixture = await openInboxFixture();
  await fixture.open().send("hello", { key: "K" });
  await fixture.claim();
  await fixture.append(...begin(prompt), question(prompt, "q1"));
  return fixture;
}

describe("allow and deny", () => {
  it("answer a question with the actor of the decision", async () => {
    const { open, store, uid } = await withQuestion();

    const decided = await open().deny("q1", {
      reason: "too much",
      actor: { user: "ann", via: "http" },
    });

    expect(decided).toEqual({
      accepted: true,
      approvalId: "q1",
      decision: "deny",
      actor: { user: "ann", via: "http" },
      n: 7,
      replayed: false,
    });
    expect((await store.read(uid)).at(-1)).toMatchObject({
      type: "approval_resolved",
      callId: "call_1",
      reason: "too much",
      actor: { user: "ann", via: "http" },
    });
  });

  it("take the same decision again for a repeat, also after the run, and refuse another one", async () => {
    const { open, append, count } = await withQuestion();
    const inbox = open();
    await inbox.allow("q1", { actor: { user: "ann" } });

    const again = await inbox.allow("q1", { reason: "as I said", actor: { user: "ben" } });
    const other = await open().deny("q1");
    await append(end(prompt));
    const late = await open().allow("q1");
    const lateOther = await open().deny("q1");

    expect(again).toMatchObject({ accepted: true, actor: { user: "ann" }, n: 7, replayed: true });
    expect(late).toMatchObject({ accepted: true, actor: { user: "ann" }, n: 7, replayed: true });
    expect([other, lateOther]).toMatchObject([{ reason: "settled" }, { reason: "settled" }]);
    expect(await count("approval_resolved")).toBe(1);
  });

  it("of many deciders at once count one decision", async () => {
    const { open, count } = await withQuestion();

    const decided = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0 ? open().allow("q1") : open().deny("q1"),
      ),
    );

    expect(await count("approval_resolved")).toBe(1);
    expect(decided.filter((one) => one.accepted && !one.replayed)).toHaveLength(1);
    expect(decided.filter((one) => one.accepted)).toHaveLength(10);
    expect(decided.filter((one) => !one.accepted && one.reason === "settled")).toHaveLength(10);
  });

  it("refuse a question that was not asked, one whose run is over, and a hash that was not shown", async () => {
    const { open, append, count } = await withQuestion();

    expect(await open().allow("q2")).toMatchObject({ reason: "unknown" });
    expect(await open().allow("q1", { hash: "sha256:0" })).toMatchObject({
      reason: "hash_mismatch",
    });
    expect(await open().allow("")).toMatchObject({ reason: "invalid" });
    await append(end(prompt));
    expect(await open().allow("q1", { hash: "sha256:9c1f" })).toMatchObject({ reason: "settled" });
    expect(await count("approval_resolved")).toBe(0);
  });

  it("answer a question that is asked again after a reset under the same id", async () => {
    const { open, claim, append, count } = await withQuestion();
    const inbox = open();
    await inbox.allow("q1");
    await claim(5);
    await append(question(prompt, "q1"));

    expect(await inbox.allow("q1", { hash: "sha256:9c1f" })).toMatchObject({ replayed: false });
    expect(await open().allow("q1")).toMatchObject({ accepted: true, replayed: true });
    expect(await count("approval_resolved")).toBe(2);
  });
});

describe("answer", () => {
  it("is the input that answers the call, with an output or an error", async () => {
    const { open, store, uid } = await withCalls();
    const inbox = open();

    const one = await inbox.answer({ callId: "call_1" }, { output: { done: true } });
    const two = await inbox.answer(
      { callId: "call_2", itemId: "item_K_1_0" },
      { error: "no camera" },
    );

    expect(one).toMatchObject({ accepted: true, inputId: "input_answer_item_K_1_1" });
    expect(two).toMatchObject({ accepted: true, inputId: "input_answer_item_K_1_2" });
    expect((await store.read(uid)).slice(-2)).toMatchObject([
      { input: { kind: "answer", callId: "call_1", output: { done: true } } },
      { input: { kind: "answer", callId: "call_2", error: "no camera" } },
    ]);
  });

  it("is given once: the same again is a repeat, also late, another one is refused", async () => {
    const { open, append, count } = await withCalls();
    await open().answer({ callId: "call_1" }, { output: 1 });

    const again = await open().answer({ callId: "call_1" }, { output: 1 });
    const other = await open().answer({ callId: "call_1" }, { error: "no" });
    await append(result(prompt, "call_1", 0), result(prompt, "call_2", 1), end(prompt));
    const late = await open().answer({ callId: "call_1", itemId: "item_K_1_0" }, { output: 1 });
    const lateOther = await open().answer({ callId: "call_1" }, { output: 2 });
    const tooLate = await open().answer({ callId: "call_2" }, { output: 1 });

    expect([again, late]).toMatchObject([{ replayed: true }, { replayed: true }]);
    expect([other, lateOther, tooLate].map((one) => !one.accepted && one.reason)).toEqual([
      "settled",
      "settled",
      "settled",
    ]);
    expect(await count("input_accepted")).toBe(2);
  });

  it("without an item is for the latest call of its id, which vendors use again", async () => {
    const { open, append } = await withCalls();
    await append(
      result(prompt, "call_1", 0),
      result(prompt, "call_2", 1),
      { type: "turn_started", ...placeOf(prompt, 2) },
      reply(prompt, ["call_1"], 2),
    );

    const latest = await open().answer({ callId: "call_1" }, { output: 1 });
    const earlier = await open().answer({ callId: "call_1", itemId: "item_K_1_0" }, { output: 1 });

    expect(latest).toMatchObject({ accepted: true, inputId: "input_answer_item_K_2_1" });
    expect(earlier).toMatchObject({ accepted: false, reason: "settled" });
  });

  it("is taken before the call begins for a client's tool, and refused for one of the agent's process", async () => {
    const { open } = await withCalls();
    const clientTools = (name: string) => async () => new Set([name]);

    const other = await open({ clientTools: clientTools("other") }).answer(
      { callId: "call_1" },
      { output: 1 },
    );
    const own = await open({ clientTools: clientTools("fill_in") }).answer(
      { callId: "call_1" },
      { output: 1 },
    );

    expect(other).toMatchObject({ accepted: false, reason: "invalid" });
    expect(own).toMatchObject({ accepted: true });
  });

  it("is refused for a call that is not there, and for what is no answer", async () => {
    const { open, store, uid } = await withCalls();
    const head = await store.head(uid);
    const cases = [
      open().answer({ callId: "call_3" }, { output: 1 }),
      open().answer({ callId: "call_1", itemId: "item_K" }, { output: 1 }),
      open().answer({ callId: "call_1" }, {} as { output: number }),
      open().answer({ callId: "call_1" }, { output: 1, error: "both" }),
      open().answer({ callId: "call_1" }, { output: undefined as never }),
      open().answer({ callId: "call_1" }, { output: Number.NaN }),
    ];

    const reasons = (await Promise.all(cases)).map((one) => !one.accepted && one.reason);

    expect(reasons).toEqual(["unknown", "unknown", "invalid", "invalid", "invalid", "invalid"]);
    expect(await store.head(uid)).toBe(head);
  });
});
