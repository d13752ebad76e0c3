import type { Fact } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";

/** The log as somebody sees it who does not hear everything. */
export function deafLog(log: EventLog, drop: (message: Fact | Batch) => boolean): EventLog {
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

/** Every message comes twice, and neighbours come in the wrong order. */
export function messyLog(log: EventLog): EventLog {
  return { ...log, tail: async (uid, options) => muddle(await log.tail(uid, options)) };
}

async function* muddle(
  tail: AsyncIterable<Fact | Batch>,
): AsyncGenerator<Fact | Batch, void, undefined> {
  let held: Fact | Batch | undefined;
  for await (const message of tail) {
    yield message;
    if (held !== undefined) yield held;
    held = message;
  }
}

/** Appends and nudges fail as long as `fails` says so. A lost answer may hide a stored batch. */
export function brokenLog(log: EventLog, fails: () => "before" | "after" | undefined): EventLog {
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
