import type { Fact } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";

/** A log whose subscriptions drop messages. */
export function lossyLog(log: EventLog, drop: (message: Fact | Batch) => boolean): EventLog {
  return {
    ...log,
    tail: async (uid, options) => {
      const tail = await log.tail(uid, options);
      return filter(tail, drop);
    },
  };
}

async function* filter(
  tail: AsyncIterable<Fact | Batch>,
  drop: (message: Fact | Batch) => boolean,
): AsyncGenerator<Fact | Batch, void, undefined> {
  for await (const message of tail) {
    if (!drop(message)) yield message;
  }
}

/** A log whose subscriptions deliver every message twice, and neighbours in the wrong order. */
export function duplicatingLog(log: EventLog): EventLog {
  return {
    ...log,
    tail: async (uid, options) => duplicateAndReorder(await log.tail(uid, options)),
  };
}

async function* duplicateAndReorder(
  tail: AsyncIterable<Fact | Batch>,
): AsyncGenerator<Fact | Batch, void, undefined> {
  let held: Fact | Batch | undefined;
  for await (const message of tail) {
    yield message;
    if (held !== undefined) yield held;
    held = message;
  }
}

/**
 * A log whose appends and nudges fail while `fails` returns a side. After `after` the batch is
 * stored, but its answer is lost.
 */
export function failingLog(log: EventLog, fails: () => "before" | "after" | undefined): EventLog {
  return {
    ...log,
    append: async (uid, batch) => {
      const failure = fails();
      if (failure === "before") throw new Error("the log can't be reached");
      const answer = await log.append(uid, batch);
      if (failure === "after") throw new Error("the answer was lost");
      return answer;
    },
  };
}
