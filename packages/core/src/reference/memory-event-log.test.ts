import { describe, expect, it } from "vitest";
import { sessionUid } from "../ids.ts";
import { batch, facts, opening } from "../testing/session.ts";
import { manualClock } from "./manual-clock.ts";
import { memoryEventLog } from "./memory-event-log.ts";

const minute = 60_000;
const [first, second] = [sessionUid("first"), sessionUid("second")];
const begun = batch([opening]);

function fixture() {
  const clock = manualClock();
  return { clock, log: memoryEventLog({ clock }) };
}

describe("the lanes of a session that nothing is appended to", () => {
  it("are kept for five minutes, and dropped with a later use of the log", async () => {
    const { clock, log } = fixture();
    await log.append(first, begun);
    await clock.advance(4.9 * minute);
    await log.append(second, begun);
    expect(await log.read(first, 0)).toHaveLength(1);
    await clock.advance(0.7 * minute);
    await log.append(second, batch([opening], { first: 1 }));

    expect(await log.read(first, 0)).toEqual([]);
    expect(await log.read(second, 0)).toHaveLength(2);
  });

  it("are dropped below a subscription, which goes on; the writer is asked to restate its lane", async () => {
    const { clock, log } = fixture();
    const received: unknown[] = [];
    const tail = await log.tail(first);
    await log.append(first, begun);
    await clock.advance(6 * minute);
    await log.append(second, begun);

    const next = batch([opening], { first: 1 });
    expect(await log.append(first, next)).toEqual({ outcome: "absent" });
    const again = batch([opening, opening]);
    expect(await log.append(first, again)).toEqual({ outcome: "stored", watched: true });
    for await (const message of tail) if (received.push(message) === 2) break;
    expect(received).toEqual([begun, again]);
  });

  it("are dropped before that where there are more than 10,000 sessions, the oldest first", async () => {
    const { log } = fixture();
    for (let at = 0; at < 12_500; at += 1) await log.append(sessionUid(`s${at}`), begun);
    const held = async (at: number): Promise<number> =>
      (await log.read(sessionUid(`s${at}`), 0)).length;

    expect([await held(0), await held(1_000), await held(5_000), await held(12_499)]).toEqual([
      0, 0, 1, 1,
    ]);
  });

  it("leave the number of the last announced fact to those who subscribe to heads", async () => {
    const { clock, log } = fixture();
    const heads = await log.heads(first);
    const [one, two] = facts(
      7,
      { type: "session_claimed", incarnation: 1 },
      { type: "session_claimed", incarnation: 2 },
    );
    await log.announce(first, two as NonNullable<typeof two>);
    await clock.advance(6 * minute);
    await log.append(second, begun);
    await log.announce(first, one as NonNullable<typeof one>);
    for await (const head of heads) {
      expect(head).toBe(8);
      break;
    }
  });
});
