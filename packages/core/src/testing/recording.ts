import { commitDraft } from "../delta/commit.ts";
import type { Delta } from "../delta/delta.ts";
import type { Ending, Item } from "../content/item.ts";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import type { Fact, FactBody, InputAccepted } from "../event/event.ts";
import { narrate } from "../event/narrate.ts";
import { emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { textOf } from "../delta/draft.ts";
import { itemId, runId, sessionId, turnId } from "../ids.ts";
import type { CallId } from "../ids.ts";
import { createLaneWriter } from "../lane/lane-writer.ts";
import type { LaneWriter } from "../lane/writer-types.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { countingIds } from "../reference/system.ts";
import type { SessionRecord } from "../ports/session-record.ts";
import { encodeMessage } from "../wire/message-codec.ts";

const run = runId("run_1");
const turn = turnId("turn_1");

/**
 * A session on the memory implementations that writes down everything its readers would be sent:
 * each message, what it adds to the narration, and the buffers after it. One delta a batch, time
 * stands still, ids count: the same recording each time, fit to be kept as a golden file.
 */
export class Recording {
  readonly #clock = manualClock();
  readonly #log = memoryEventLog();
  readonly #store = memorySessionStore({ clock: this.#clock, makeId: countingIds() });
  readonly #lines: string[] = [];
  #session: SessionRecord | undefined;
  #state: SessionState | undefined;
  #generation = 0;

  static async begin(): Promise<Recording> {
    const recording = new Recording();
    const session = await recording.#store.create({ sessionId: sessionId("s") });
    recording.#session = session;
    recording.#state = emptyState(session.uid, session.sessionId);
    const claimed = await recording.#store.claim(session.uid, { from: 0 });
    if (claimed.outcome === "claimed") recording.#take(claimed.facts);
    await recording.decide(
      { type: "run_started", runId: run },
      { type: "turn_started", runId: run, turnId: turn },
    );
    return recording;
  }

  /** One JSON line for each message. */
  text(): string {
    return this.#lines.join("");
  }

  async decide(...bodies: readonly FactBody[]): Promise<void> {
    const { uid } = this.#open();
    const head = await this.#store.head(uid);
    const decided = await this.#store.append(uid, { incarnation: 1, head, bodies });
    if (decided.outcome !== "appended") throw new Error(decided.outcome);
    this.#take(decided.facts);
  }

  /** Writes one item in a lane, one delta a batch. `stop` is called after each delta. */
  async write(
    deltas: AsyncIterable<Delta>,
    { lane = 0, call }: WriteOptions = {},
  ): Promise<OpenItem> {
    const { uid, sessionId: session } = this.#open();
    this.#generation += 1;
    const epoch = packEpoch({ incarnation: 1, generation: this.#generation, attempt: 1 });
    const id = itemId(`item_${this.#generation}`);
    const ids = { runId: run, turnId: turn, itemId: id };
    const intent =
      call && ({ type: "tool_execution_started", ...ids, ...call, lane, epoch } as const);
    const opened = await this.#store.open(uid, { lane, epoch, itemId: id, intent });
    if (opened.outcome !== "opened") throw new Error(opened.outcome);
    this.#take(opened.facts);
    const author = call === undefined ? ("model" as const) : ("tool" as const);
    const writer = createLaneWriter({
      log: this.#log,
      clock: this.#clock,
      uid,
      sessionId: session,
      ...ids,
      lane,
      epoch,
      head: opened.head,
      author,
      ...(call && { callId: call.callId, tool: call.tool }),
    });
    let after = -1;
    const drain = async (): Promise<void> => {
      await writer.flush();
      const batches = await this.#log.read(uid, lane, { epoch, seq: after });
      this.#take(batches.filter((batch) => batch.epoch === epoch));
      after = batches.at(-1)?.last ?? after;
    };
    await drain();
    for await (const delta of deltas) {
      const fault = writer.write(delta);
      if (fault !== undefined) throw new Error(fault.message);
      await drain();
    }
    return { id, lane, epoch, author, writer, call };
  }

  async commit(
    open: OpenItem,
    ending: Ending,
    type: "item_committed" | "item_replaced" = "item_committed",
    other?: Item,
  ): Promise<void> {
    const { id, lane, epoch, author, writer, call } = open;
    const item = other ?? commitDraft(writer.draft(), { id, author }, ending);
    const ids = { runId: run, turnId: turn };
    const result = item.parts.find((part) => part.kind === "tool_result");
    const status = result?.status ?? "ok";
    const settlement = call && [
      {
        type: "tool_execution_finished" as const,
        ...ids,
        callId: call.callId,
        tool: call.tool,
        status,
      },
    ];
    const committed = await this.#store.commit(this.#open().uid, {
      fact: { type, item, lane, epoch, ...ids },
      settlement,
    });
    if (committed.outcome !== "committed") throw new Error(committed.outcome);
    await writer.close();
    this.#take(committed.facts);
  }

  async finish(stop: Item["stop"], outcome: "completed" | "aborted" | undefined): Promise<void> {
    const closes = packEpoch({ incarnation: 1, generation: this.#generation, attempt: 1 });
    await this.decide({ type: "turn_finished", runId: run, turnId: turn, stop, closes });
    if (outcome !== undefined)
      await this.decide({ type: "run_finished", runId: run, outcome, closes });
  }

  async say(body: InputAccepted): Promise<void> {
    const accepted = await this.#store.accept(this.#open().uid, body.inputId, body);
    if (accepted.outcome === "accepted") this.#take(accepted.facts);
  }

  #open(): SessionRecord {
    if (this.#session === undefined) throw new Error("begin first");
    return this.#session;
  }

  #take(messages: readonly (Fact | Batch)[]): void {
    for (const message of messages) {
      const before = this.#state as SessionState;
      const applied = apply(before, message);
      if (applied.verdict !== "applied") throw new Error(applied.verdict);
      const narration = narrate(before, message);
      const buffers = applied.state.lanes.flatMap((lane) =>
        lane.draft.parts.flatMap((part) =>
          part.state === "open" ? [{ [part.id]: textOf(part) }] : [],
        ),
      );
      const line = { message: JSON.parse(encodeMessage(message)) as object, narration, buffers };
      this.#lines.push(`${JSON.stringify(line)}\n`);
      this.#state = applied.state;
    }
  }
}

interface WriteOptions {
  readonly lane?: number;
  readonly call?: {
    readonly callId: CallId;
    readonly tool: string;
    readonly input: { readonly [key: string]: string };
  };
}

interface OpenItem {
  readonly id: Item["id"];
  readonly lane: number;
  readonly epoch: number;
  readonly author: "model" | "tool";
  readonly writer: LaneWriter;
  readonly call: WriteOptions["call"];
}
