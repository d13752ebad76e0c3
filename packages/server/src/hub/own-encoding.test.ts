// What the hub does for an encoding that speaks to each reader with a state of its own, as dialects do.
import type { StreamEndReason } from "@millrace/core/wire";
import { expect, test } from "vitest";
import type { Encoding } from "../encoding/encoding.ts";
import { openStreamFixture } from "../testing/stream-fixture.ts";
import type { RecordingSink } from "../testing/recording-sink.ts";

interface Spoken {
  readonly encoding: Encoding;
  /** How many messages each encoder was given, in the order in which they were opened. */
  readonly given: readonly number[];
}

interface SpokenOptions {
  /** Its reader has all after so many messages. Left out: never. */
  readonly most?: number;
  /** Says nothing, whatever comes. */
  readonly silent?: boolean;
}

/** Writes a comment for each message, with its number for this reader. */
function spokenEncoding({ most = Infinity, silent = false }: SpokenOptions = {}): Spoken {
  const given: number[] = [];
  const open: ReturnType<Encoding["share"]>["open"] = () => {
    const own = given.push(0) - 1;
    const numberOf = (): number => (given[own] = (given[own] ?? 0) + 1);
    return {
      encode: (messages) =>
        Buffer.from(silent ? "" : messages.map(() => `: message ${numberOf()}\n\n`).join("")),
      isOver: () => (given[own] ?? 0) >= most,
    };
  };
  return {
    given,
    encoding: {
      name: "spoken",
      share: () => ({ applied: () => 16, open }),
      ended: ({ reason }) => Buffer.from(`: the end, ${reason}\n\n`),
    },
  };
}

/** What a sink was sent, without the opening and heartbeats. */
const said = ({ frames }: RecordingSink): readonly string[] =>
  frames
    .flatMap((frame) => Buffer.from(frame).toString().split("\n\n"))
    .filter((text) => /^: (?:message|the end)/.test(text));

test("a delivery ends as finished once its encoder is over, after what was encoded last", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { encoding } = spokenEncoding({ most: 3 });
  const { sink, ended } = open({ form: encoding });
  await settle();
  const writer = await session.start();
  for (const text of ["one ", "two ", "three ", "four "]) {
    await writer.write(text);
    await settle(100);
  }

  expect(await ended).toEqual({ reason: "finished" });
  expect(said(sink)).toEqual([": message 1", ": message 2", ": message 3", ": the end, finished"]);
  expect(sink.calls.at(-1)).toBe("end");
});

test("an encoder that is over ends its delivery although the sink is full", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { encoding } = spokenEncoding({ most: 2 });
  const { sink, ended } = open({ form: encoding });
  await settle();
  sink.full = true;
  await (await session.start()).write("one ");
  await settle(100);

  expect(await ended).toEqual({ reason: "finished" });
  expect(said(sink).at(-1)).toBe(": the end, finished");
});

test("each message is encoded once for each delivery, in whatever place its reader is", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { encoding, given } = spokenEncoding();
  const readers = [open({ form: encoding }), open({ form: encoding }), open({ form: encoding })];
  await settle();
  const joined = [...given];
  const writer = await session.start();
  const [slow] = readers;
  for (let batch = 0; batch < 30; batch += 1) {
    if (batch === 10 && slow !== undefined) {
      slow.sink.full = true;
      await settle(15_000); // a heartbeat fills it, between two messages
    }
    if (batch === 20) slow?.sink.drain();
    await writer.write(`${batch} `);
    await settle(100);
  }

  for (const [at, { sink }] of readers.entries()) {
    const numbers = Array.from(
      { length: given[at] ?? 0 },
      (_, number) => `: message ${number + 1}`,
    );
    expect(said(sink)).toEqual(numbers);
  }
  expect(given[1]).toBeGreaterThanOrEqual((joined[1] ?? 0) + 30);
  expect(given[2]).toBe(given[1]);
});

test("an encoder that has nothing to say writes nothing: an empty chunk would end a response", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { encoding } = spokenEncoding({ silent: true });
  const { sink } = open({ form: encoding });
  await settle();
  await (await session.start()).write("one ");
  await settle(100);

  expect(sink.frames.every(({ length }) => length > 0)).toBe(true);
  expect(said(sink)).toEqual([]);
  expect(sink.calls.at(-1)).toBe("write"); // it is open still
});

test.each<StreamEndReason>(["revoked", "expired", "removed", "drain"])(
  "a stream that ends as %s ends with the encoding's own words alone",
  async (reason) => {
    const { settle, open } = await openStreamFixture();
    const control = new AbortController();
    const { encoding } = spokenEncoding();
    const { sink, ended } = open({ form: encoding, signal: control.signal });
    await settle();
    control.abort(reason);

    expect(await ended).toEqual({ reason });
    expect(said(sink).at(-1)).toBe(`: the end, ${reason}`);
    expect(sink.reader.ends).toEqual([]); // no message of ours
  },
);
