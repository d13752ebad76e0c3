import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partsOf, commitOf } from "../delta/commit.ts";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { foldAll } from "../delta/fold.ts";
import { MillraceError } from "../errors.ts";
import { partId } from "../ids.ts";
import type { ModelStream } from "./model.ts";
import { createModelStream } from "./model-stream.ts";
import type { ReplySource, ReplyWriter } from "./model-stream.ts";

const p1 = partId("p1");
const begin: Delta = { op: "begin_part", partId: p1, kind: "text" };
const whole = { stop: "end", evidence: "stop" } as const;

// An unhandled rejection would end a server. None may come from any of these tests.
let unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off("unhandledRejection", note);
  expect(unhandled).toStrictEqual([]);
});

function append(chunk: string, id = p1): Delta {
  return { op: "append_text", partId: id, chunk };
}

function stream(produce: ReplySource["produce"], options: Partial<ReplySource> = {}): ModelStream {
  return createModelStream({ model: "test/model", ...options, produce });
}

/** Emits a text letter by letter, one microtask apart, and stops when it is aborted. */
function speaker(words: string): ReplySource["produce"] {
  return async (writer) => {
    writer.emit(begin);
    for (const letter of words) {
      await Promise.resolve();
      if (writer.signal.aborted)
        return { stop: "aborted", cause: { code: "stopped", message: "" } };
      writer.emit(append(letter));
    }
    commit(writer);
    return whole;
  };
}

function commit(writer: ReplyWriter): void {
  writer.emit(commitOf(writer.draft(), p1) as Delta);
}

async function collect(iterable: AsyncIterable<Delta>): Promise<readonly Delta[]> {
  const deltas: Delta[] = [];
  for await (const delta of iterable) deltas.push(delta);
  return deltas;
}

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await Promise.resolve();
}

describe("the two views", () => {
  it("the result is there for a consumer that does not iterate", async () => {
    expect(await stream(speaker("hello")).result).toStrictEqual({
      model: "test/model",
      parts: [{ kind: "text", id: "p1", text: "hello" }],
      ...whole,
    });
  });

  it("the deltas are there for a consumer that does not await the result", async () => {
    const deltas = await collect(stream(speaker("hi")));

    expect(deltas).toStrictEqual([
      begin,
      append("h"),
      append("i"),
      { op: "commit_part", partId: p1, part: { kind: "text", id: "p1", text: "hi" } },
    ]);
  });

  it("both come from one request", async () => {
    let requests = 0;
    const both = stream(async (writer) => {
      requests += 1;
      return await speaker("hello")(writer);
    });

    const [deltas, reply] = await Promise.all([collect(both), both.result]);

    expect(partsOf(foldAll(emptyDraft(), deltas))).toStrictEqual(reply.parts);
    expect(requests).toBe(1);
  });

  it("the deltas are still there after the result, also for a consumer that iterates only then", async () => {
    const late = stream(speaker("hello"));
    const reply = await late.result;

    const deltas = await collect(late);

    expect(partsOf(foldAll(emptyDraft(), deltas))).toStrictEqual(reply.parts);
  });

  it("a second iteration throws, and the first goes on", async () => {
    const once = stream(speaker("hello"));
    const first = collect(once);

    expect(() => once[Symbol.asyncIterator]()).toThrow(
      expect.objectContaining({ code: "closed" }) as Error,
    );
    expect(await first).toHaveLength(7);
  });

  it("two deltas asked for at once come in order, and both requests end", async () => {
    const reader = stream(speaker("ab"))[Symbol.asyncIterator]();

    const asked = await Promise.all(Array.from({ length: 6 }, async () => await reader.next()));

    expect(asked.map(({ done, value }) => (done === true ? "done" : value.op))).toStrictEqual([
      "begin_part",
      "append_text",
      "append_text",
      "commit_part",
      "done",
      "done",
    ]);
  });

  it("usage stands on the reply, and is not there when it is not known", async () => {
    const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };

    expect(await stream(async () => ({ ...whole, usage })).result).toHaveProperty("usage", usage);
    expect(await stream(async () => ({ ...whole, usage: undefined })).result).not.toHaveProperty(
      "usage",
    );
  });

  it("what is emitted after the ending is ignored", async () => {
    let leaked: ReplyWriter | undefined;
    const ended = stream(async (writer) => {
      leaked = writer;
      return await speaker("hello")(writer);
    });
    const reply = await ended.result;

    leaked?.emit({ ...begin, partId: partId("p2") });

    expect(await collect(ended)).toHaveLength(7);
    expect((await ended.result).parts).toBe(reply.parts);
  });
});

describe("a consumer that visits", () => {
  /** Emits letters without ever waiting. */
  const burst = (letters: number): ReplySource["produce"] => {
    return async (writer) => {
      writer.emit(begin);
      for (let at = 0; at < letters; at += 1) writer.emit(append("x"));
      commit(writer);
      return whole;
    };
  };

  it("is called inside each emit, with what was emitted, and gets the reply", async () => {
    const steps: string[] = [];
    const visited = stream(async (writer) => {
      const ending = speaker("hi")({
        ...writer,
        emit: (delta) => {
          writer.emit(delta);
          steps.push("emitted");
        },
      });
      return await ending;
    });

    const reply = await visited.forEach?.(({ op }) => void steps.push(op));

    expect(steps).toStrictEqual([
      "begin_part",
      "emitted",
      "append_text",
      "emitted",
      "append_text",
      "emitted",
      "commit_part",
      "emitted",
    ]);
    expect(reply).toBe(await visited.result);
    expect(reply).toMatchObject({ parts: [{ text: "hi" }], ...whole });
  });

  it("gets every delta of a source that never waits, since the source begins after this tick", async () => {
    const deltas: Delta[] = [];

    await stream(burst(5_000)).forEach?.((delta) => void deltas.push(delta));

    expect(deltas).toHaveLength(5_002);
  });

  it("that comes late gets what waited first, merged, and then the rest", async () => {
    const late = stream(async (writer) => {
      const ending = await burst(5_000)(writer);
      await rounds(20);
      return ending;
    });
    await rounds(10);
    const deltas: Delta[] = [];

    const reply = await late.forEach?.((delta) => void deltas.push(delta));

    expect(deltas.length).toBeLessThan(5_000);
    expect(partsOf(foldAll(emptyDraft(), deltas))).toStrictEqual(reply?.parts);
  });

  it("that throws ends the reply as failed, with what came", async () => {
    const reply = await stream(speaker("hi")).forEach?.(({ op }) => {
      if (op === "append_text") throw new Error("no room");
    });

    expect(reply).toMatchObject({ stop: "failed", cause: { message: "no room" } });
  });

  it("is the one consumer", async () => {
    const once = stream(speaker("hi"));
    await once.forEach?.(() => undefined);

    const closed = expect.objectContaining({ code: "closed" }) as Error;
    expect(() => once.forEach?.(() => undefined)).toThrow(closed);
    expect(() => once[Symbol.asyncIterator]()).toThrow(closed);
  });
});

describe("a slow consumer", () => {
  it("gets what it missed merged, and nothing less", async () => {
    const words = "x".repeat(20_000);
    const slow = stream(speaker(words));
    const reply = await slow.result;

    const deltas = await collect(slow);

    expect(deltas.length).toBeLessThan(1_100);
    expect(partsOf(foldAll(emptyDraft(), deltas))).toStrictEqual(reply.parts);
  });
});

describe("stopping", () => {
  const words = "a few words";

  it("an abort at every point gives what came until then, and ends as aborted", async () => {
    const total = words.length + 2;
    for (let after = 1; after <= total; after += 1) {
      const stop = new AbortController();
      let emitted = 0;
      const reply = await stream(
        async (writer) =>
          await speaker(words)({
            ...writer,
            emit: (delta) => {
              writer.emit(delta);
              emitted += 1;
              if (emitted === after) stop.abort();
            },
          }),
        { signal: stop.signal },
      ).result;

      const said = words.slice(0, after - 1);
      if (after < total) {
        expect(reply).toMatchObject({ stop: "aborted", parts: [{ kind: "text", text: said }] });
        expect(reply).toHaveProperty("cause");
      } else {
        // It was whole when the stop arrived, and stays so.
        expect(reply).toMatchObject({ ...whole, parts: [{ text: words }] });
      }
    }
  });

  it("a source that ignores its signal is cut all the same, and what it emits later is ignored", async () => {
    const stop = new AbortController();
    const deaf = stream(
      async (writer) => {
        writer.emit(begin);
        for (const letter of words) {
          writer.emit(append(letter));
          await Promise.resolve();
        }
        commit(writer);
        return whole;
      },
      { signal: stop.signal },
    );
    await rounds(4);
    stop.abort();

    const reply = await deaf.result;

    expect(reply).toMatchObject({ stop: "aborted", cause: { code: "aborted" } });
    const [part] = reply.parts;
    expect(part?.kind === "text" && part.text).toSatisfy(
      (text: string) => words.startsWith(text) && text.length > 0 && text.length < words.length,
    );
    expect(partsOf(foldAll(emptyDraft(), await collect(deaf)))).toStrictEqual(reply.parts);
  });

  it("with a signal that is aborted already no request is made", async () => {
    let requests = 0;
    const none = stream(
      async () => {
        requests += 1;
        return whole;
      },
      { signal: AbortSignal.abort() },
    );

    expect(await none.result).toMatchObject({ stop: "aborted", parts: [] });
    expect(await collect(none)).toStrictEqual([]);
    expect(requests).toBe(0);
  });

  it("a consumer that leaves ends the request", async () => {
    let signal: AbortSignal | undefined;
    const left = stream(async (writer) => {
      ({ signal } = writer);
      return await speaker(words)(writer);
    });

    for await (const delta of left) if (delta.op === "append_text") break;

    expect(signal?.aborted).toBe(true);
    expect(await left.result).toMatchObject({ stop: "aborted" });
  });

  it("a consumer that throws ends the request", async () => {
    const left = stream(speaker(words));

    const failing = (async () => {
      for await (const _ of left) throw new Error("the consumer's own");
    })();

    await expect(failing).rejects.toThrow("the consumer's own");
    expect(await left.result).toMatchObject({ stop: "aborted" });
  });

  it("a consumer that leaves while it waits ends the request, as a cancelled web stream does", async () => {
    const silent = stream(async (writer) => {
      writer.emit(begin);
      await new Promise<void>((resolve) => {
        writer.signal.addEventListener("abort", () => resolve());
        setTimeout(resolve, 200);
      });
      return writer.signal.aborted
        ? { stop: "aborted", cause: { code: "left", message: "" } }
        : whole;
    });
    const reader = silent[Symbol.asyncIterator]();
    await reader.next();
    const waiting = reader.next();

    void reader.return?.();

    expect(await silent.result).toMatchObject({ stop: "aborted", cause: { code: "left" } });
    expect(await waiting).toMatchObject({ done: true });
  });

  it("a consumer that leaves before its first delta ends the request", async () => {
    const left = stream(speaker(words));

    await left[Symbol.asyncIterator]().return?.();

    expect(await left.result).toMatchObject({ stop: "aborted" });
  });

  it("nothing is left on the caller's signal", async () => {
    const { signal } = new AbortController();

    for (let request = 0; request < 5; request += 1) await stream(speaker("x"), { signal }).result;

    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("failing", () => {
  it.each<[string, Delta, string]>([
    ["an append before its part", append("x", partId("p9")), "unknown_part"],
    ["a part begun twice", begin, "part_exists"],
    [
      "bytes for a text",
      { op: "append_bytes", partId: p1, chunk: new Uint8Array(1) },
      "wrong_kind",
    ],
    ["half a character", append("\ud83d"), "malformed_text"],
  ])("%s ends the reply as failed, with the fault's code", async (_, wrong, code) => {
    let told = false;
    const faulty = stream(async (writer) => {
      writer.emit(begin);
      writer.emit(append("good"));
      writer.emit(wrong);
      told = writer.signal.aborted;
      writer.emit(append("too late"));
      return whole;
    });

    const reply = await faulty.result;

    expect(reply).toMatchObject({ stop: "failed", cause: { code }, parts: [{ text: "good" }] });
    expect(told).toBe(true);
    expect(await collect(faulty)).toStrictEqual([begin, append("good")]);
  });

  it("limits of the source are limits of the draft", async () => {
    const { limits } = emptyDraft();

    const reply = await stream(speaker("12345"), { limits: { ...limits, text: 4 } }).result;

    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "part_too_large" },
      parts: [{ text: "1234" }],
    });
  });

  it("a part left open is no success", async () => {
    const open = stream(async (writer) => {
      writer.emit(begin);
      writer.emit(append("half"));
      return whole;
    });

    expect(await open.result).toMatchObject({
      stop: "failed",
      cause: { code: "part_left_open" },
      parts: [{ text: "half" }],
    });
  });

  it.each<[string, unknown, object]>([
    ["an error", new Error("no route"), { code: "model_failed", message: "no route" }],
    ["ours", new MillraceError("closed", "gone"), { code: "closed", message: "gone" }],
    ["a string", "boom", { code: "model_failed", message: "boom" }],
    ["nothing", undefined, { code: "model_failed" }],
    ["a symbol", Symbol("s"), { code: "model_failed" }],
    ["an object that can't be text", Object.create(null), { code: "model_failed" }],
  ])("a source that throws %s ends the reply as failed", async (_, thrown, cause) => {
    const failing = stream(async (writer) => {
      writer.emit(begin);
      writer.emit(append("so far"));
      await Promise.resolve();
      throw thrown;
    });

    const settled = await failing.result.catch((error: unknown) => ({ rejected: error }));

    expect(settled).toMatchObject({ stop: "failed", cause, parts: [{ text: "so far" }] });
  });

  it("a source that throws at once, or because it was aborted, is data too", async () => {
    const atOnce = stream((): never => {
      throw new Error("at once");
    });
    const stop = new AbortController();
    const aborted = stream(
      async () => {
        stop.abort();
        throw new Error("AbortError");
      },
      { signal: stop.signal },
    );

    expect(await atOnce.result).toMatchObject({ stop: "failed", cause: { message: "at once" } });
    expect(await aborted.result).toMatchObject({ stop: "aborted", cause: { code: "aborted" } });
  });
});
