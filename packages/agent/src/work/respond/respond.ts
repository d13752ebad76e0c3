import { MillraceError } from "@millrace/core";
import { abortedCause } from "@millrace/core/model";
import type { Item, Transcript, TurnId } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { ActiveRun, ItemWriter, Respond, Yielded } from "../../definition/settings.ts";
import { assemble } from "../../context/assemble.ts";
import { compactionsOf } from "../../context/context.ts";
import type { Epochs, WorkHost } from "../host.ts";
import { Fenced } from "../host.ts";
import { writtenItemIdOf } from "../../loop/ids.ts";
import { traceOf } from "../request.ts";
import { writeByHand } from "./by-hand.ts";
import { causeOf } from "./failure.ts";
import { itemSlotsOf } from "./item-slots.ts";
import type { ItemSlots, Responding } from "./item-slots.ts";
import { writeUpdates } from "./updates.ts";

/**
 * Calls the agent's `respond` function for one turn, and writes its items. After a crash the function
 * is called again with the same transcript. Items that it had finished are returned as stored, in the
 * order in which it begins them, and are not written twice. Throws `Fenced` if another driver took the
 * session; every other failure is the returned ending.
 */
export async function respond(host: WorkHost, epochs: Epochs, at: Responding): Promise<Ending> {
  const { agent } = host;
  if (agent.respond === undefined) {
    throw new MillraceError("invalid_definition", "this agent has no respond function");
  }
  const before = transcriptBefore(host, at.turnId);
  const written: Item[] = [];
  const writing = new Set<Promise<unknown>>();
  const slots = itemSlotsOf(host, epochs, at, written);
  const { signal } = at;
  const write: ActiveRun["write"] = (source) => {
    // A stopped run shows its stop in one item, also if the function ignores its signal.
    const isOver = signal.aborted && written.some(({ stop }) => stop === "aborted");
    const item = isOver ? Promise.reject(stoppedError()) : writeFrom(slots, source);
    const settled = item.then(
      () => undefined,
      () => undefined,
    );
    writing.add(settled);
    return item;
  };
  const transcript = (): Transcript => [...before, ...written];
  try {
    const answer = agent.respond({
      session: host.info,
      get transcript() {
        return transcript();
      },
      get request() {
        return { transcript: transcript(), signal, ...traceOf(host, { runId: at.runId }) };
      },
      signal,
      write,
    });
    // Test for an async iterable, not for a promise: a stream may also have a `then`.
    const updates = isUpdates(answer) ? answer : await answer;
    if (updates !== undefined) await write(updates);
    await Promise.all(writing);
    return endingOf(signal, updates === undefined ? undefined : written.at(-1));
  } catch (error) {
    await Promise.all(writing);
    if (error instanceof Fenced) throw error;
    if (signal.reason instanceof Fenced) throw signal.reason;
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    return { stop: "failed", cause: causeOf(error) };
  }
}

function transcriptBefore({ journal }: WorkHost, turnId: TurnId): Transcript {
  const { items } = journal.context;
  const compactions = compactionsOf(journal.context);
  const own = writtenItemIdOf(turnId, 0).slice(0, -1);
  const earlier = items.toArray().filter((item) => !item.id.startsWith(own));
  return assemble(earlier, { compactions, outputBytes: () => Infinity }).transcript;
}

type Source = string | AsyncIterable<Yielded> | ((item: ItemWriter) => void | Promise<void>);

function stoppedError(): MillraceError {
  return new MillraceError("aborted", "the run was stopped, and its last item shows that");
}

async function writeFrom(slots: ItemSlots, source: Source): Promise<Item> {
  if (typeof source === "string") return await writeByHand(slots, (item) => item.append(source));
  if (typeof source === "function") return await writeByHand(slots, source);
  return await writeUpdates(slots, source);
}

function isUpdates(answer: ReturnType<Respond>): answer is AsyncIterable<Yielded> {
  return typeof answer === "object" && Symbol.asyncIterator in answer;
}

/** An item that ended with `tools` ends the turn as `end`: the agent itself runs its calls, not the loop. */
function endingOf(signal: AbortSignal, last: Item | undefined): Ending {
  if (signal.reason instanceof Fenced) throw signal.reason;
  if (signal.aborted) return { stop: "aborted", cause: abortedCause };
  if (last?.cause !== undefined) return { stop: last.stop, cause: last.cause };
  const stop = last?.stop ?? "end";
  return { stop: stop === "length" || stop === "filtered" ? stop : "end" };
}
