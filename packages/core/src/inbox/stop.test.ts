import { describe, expect, it } from "vitest";
import { inputId } from "../ids.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { begin, end, openInboxFixture } from "../testing/inbox-fixture.ts";

const first = inputId("input_K");
const second = inputId("input_L");

describe("abort", () => {
  it("takes back the prompt of a run that has not begun", async () => {
    const { open, count, store, uid } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await inbox.send("hello", { key: "L" });

    const stopped = await inbox.abort({ runId: "run_L", actor: { user: "ann" } });

    expect(stopped).toEqual({ accepted: true, runId: "run_L", replayed: false });
    expect((await store.read(uid)).at(-1)).toMatchObject({
      type: "queue_updated",
      inputId: "input_L",
      actor: { user: "ann" },
    });
    expect(await count("input_accepted")).toBe(2);
    expect(await inbox.takeBack("input_L")).toMatchObject({ accepted: true, replayed: true });
  });

  it("without a run means the one that is on, though a prompt waits", async () => {
    const { open, claim, append, store, uid } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await inbox.send("hello", { key: "L" });
    await claim();
    await append(...begin(first));

    const stopped = await inbox.abort({ reason: "stop button" });

    expect(stopped).toEqual({ accepted: true, runId: "run_K", replayed: false });
    expect((await store.read(uid)).at(-1)).toMatchObject({
      input: { kind: "abort", runId: "run_K", reason: "stop button" },
    });
  });

  it("without a run means the oldest prompt that waits, if none is on", async () => {
    const { open, count } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await inbox.send("hello", { key: "L" });

    expect(await inbox.abort()).toMatchObject({ runId: "run_K" });
    expect(await inbox.abort()).toMatchObject({ runId: "run_L" });
    expect(await inbox.abort()).toEqual({ accepted: true, replayed: false });
    expect(await count("queue_updated")).toBe(2);
  });

  it("takes back a steer that would begin a run, and none that waits for the next prompt", async () => {
    const { open, claim, append, count } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await claim();
    await append(...begin(first));
    await inbox.steer("more", { key: "kept" });
    await append(end(first, "aborted"));

    expect(await inbox.abort()).toEqual({ accepted: true, replayed: false });
    await inbox.steer("go on", { key: "L" });
    expect(await inbox.abort()).toMatchObject({ runId: "run_L" });
    expect(await count("queue_updated")).toBe(1);
  });

  it("stores one stop for a run, by whichever process and for whichever reason it is asked for", async () => {
    const { open, claim, append, count } = await openInboxFixture();
    await open().send("hello", { key: "K" });
    await claim();
    await append(...begin(first));

    const stops = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        open().abort({ runId: "run_K", ...(at % 2 === 0 ? { reason: `reason ${at}` } : {}) }),
      ),
    );

    expect(new Set(stops.map((stop) => stop.accepted && stop.runId))).toEqual(new Set(["run_K"]));
    expect(stops.filter((stop) => stop.accepted && !stop.replayed)).toHaveLength(1);
    expect(await count("input_accepted")).toBe(2);
  });

  it("of an older run changes nothing", async () => {
    const { open, claim, append, store, uid } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await inbox.send("hello", { key: "L" });
    await claim();
    await append(...begin(first), end(first), ...begin(second));
    const head = await store.head(uid);

    expect(await inbox.abort({ runId: "run_K" })).toEqual({ accepted: true, replayed: false });
    expect(await inbox.abort({ runId: "run_unknown" })).toEqual({
      accepted: true,
      replayed: false,
    });
    expect(await store.head(uid)).toBe(head);
  });

  it("stops the run that a driver begins between the look and the take-back", async () => {
    const { open, claim, append, store, count } = await openInboxFixture();
    await claim();
    await open().send("hello", { key: "K" });
    const accept: SessionStore["accept"] = async (uid, key, body) => {
      if (body.type === "queue_updated") await append(...begin(first));
      return await store.accept(uid, key, body);
    };

    const stopped = await open({ store: { ...store, accept } }).abort();

    expect(stopped).toEqual({ accepted: true, runId: "run_K", replayed: false });
    expect(await count("queue_updated")).toBe(0);
    expect(await count("input_accepted")).toBe(2);
  });

  it("repeated by key stops what it stopped first, never another run", async () => {
    const { open, claim, append, count } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await inbox.send("hello", { key: "L" });
    await claim();
    await append(...begin(first));
    await inbox.abort({ key: "stop" });
    await append(end(first, "aborted"), ...begin(second));

    const again = await open().abort({ key: "stop" });

    expect(again).toEqual({ accepted: true, runId: "run_K", replayed: true });
    expect(await count("input_accepted")).toBe(3);
    expect(await open().abort({ key: "K" })).toMatchObject({ reason: "key_reused" });
  });

  it("repeated by key after it took a prompt back stops no other run and takes no other prompt", async () => {
    const { open, claim, append, store, uid } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await inbox.abort({ key: "stop" });
    await inbox.send("hello", { key: "L" });
    const head = await store.head(uid);

    expect(await open().abort({ key: "stop" })).toEqual({ accepted: true, replayed: true });
    expect(await store.head(uid)).toBe(head);
    await claim();
    await append(...begin(second));
    expect(await open().abort({ key: "stop" })).toEqual({ accepted: true, replayed: true });
    expect(await store.head(uid)).toBe(head + 4);
    expect(await inbox.send("hello", { key: "stop" })).toMatchObject({ reason: "key_reused" });
  });

  it("stops a run again whose stop an operator has undone", async () => {
    const { open, claim, append, count } = await openInboxFixture();
    const inbox = open();
    await inbox.send("hello", { key: "K" });
    await claim();
    await append(...begin(first));
    await inbox.abort();
    await claim(5); // the run stands, its stop does not

    const stopped = await inbox.abort({ runId: "run_K" });

    expect(stopped).toEqual({ accepted: true, runId: "run_K", replayed: false });
    expect(await count("input_accepted")).toBe(3);
    expect(await open().abort()).toEqual({ accepted: true, runId: "run_K", replayed: true });
    expect(await count("input_accepted")).toBe(3);
  });
});
