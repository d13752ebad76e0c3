import { packEpoch } from "@millrace/core/ports";
import { inputId, itemId, partId, runId, turnId } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import type { Session } from "./session.ts";
import type { Truth } from "./truth.ts";
import { promise } from "./violation.ts";
import { callItem } from "./writer.ts";
import type { Job } from "./writer.ts";

type Decision =
  | { readonly append: readonly FactBody[] }
  | { readonly start: Pick<Job, "item" | "lane" | "calls"> };

/** Holds the session, until another claims it. It may not know that it has been superseded. */
export class Driver {
  readonly incarnation: number;
  alive = true;
  /** The head it has read up to. */
  known: number;
  generation = 0;
  /** The items that its writers write. */
  readonly started = new Set<string>();
  readonly #session: Session;

  constructor(session: Session, incarnation: number) {
    this.#session = session;
    this.incarnation = incarnation;
    this.known = session.head;
  }

  /** What it would do next, as far as it knows. */
  decide(): Decision | undefined {
    const truth = this.#session.truths.at(this.known);
    const { run, turn, items } = truth;
    if (run === undefined) return this.#rest(truth);
    if (turn === undefined) return { append: this.#between(truth, run) };
    const reply = `${turn}.m`;
    const ids = { runId: runId(run), turnId: turnId(turn) };
    const finish = (stop: "end" | "tools" | "aborted"): FactBody => {
      return { type: "turn_finished", ...ids, stop, closes: this.#closes() };
    };
    if (!items.some(({ id }) => id === reply)) {
      if (this.started.has(reply)) return undefined;
      if (truth.aborting) return { append: [finish("aborted")] };
      const calls = this.#session.setting.calls[truth.turns - 1] ?? 0;
      return { start: { item: reply, lane: 0, calls } };
    }
    let open = 0;
    for (let at = 0; at < truth.calls; at += 1) {
      const item = callItem(turn, at);
      if (items.some(({ id }) => id === item)) continue;
      open += 1;
      if (!this.started.has(item)) return { start: { item, lane: at + 1, calls: 0 } };
    }
    if (open > 0) return undefined;
    return { append: [finish(truth.calls > 0 ? "tools" : "end")] };
  }

  /** Does it. Gives the attempt to start, if that is what it decided. */
  async act(): Promise<Job | undefined> {
    const { uid, truths } = this.#session;
    const node = this.#session.node(this.incarnation);
    const { store } = node;
    const decision = this.decide();
    if (decision === undefined) return undefined;
    if ("start" in decision) return this.#start(decision.start);
    const { incarnation, known } = this;
    const request = { incarnation, head: known, bodies: decision.append };
    const answer = await store.append(uid, request);
    if (answer.outcome === "appended") {
      promise(
        incarnation === truths.now.incarnation,
        () => `a driver of incarnation ${incarnation} writes in ${truths.now.incarnation}`,
      );
      promise(
        known === this.#session.head,
        () => `what was decided at head ${known} is stored at ${this.#session.head}`,
      );
      this.known += answer.facts.length;
      await this.#session.announce(answer.facts, node);
    } else if (answer.outcome === "fenced") this.alive = false;
    else this.known = answer.head;
    return undefined;
  }

  #start(what: Pick<Job, "item" | "lane" | "calls">): Job {
    const { run = "", turn = "", turns } = this.#session.truths.at(this.known);
    const own = this.#session.keeps("each start has its own generation");
    this.generation = own ? this.generation + 1 : turns;
    this.started.add(what.item);
    const { incarnation, generation } = this;
    return { ...what, run, turn, incarnation, generation, attempt: 1 };
  }

  #rest(truth: Truth): Decision | undefined {
    if (truth.queue.length === 0) return undefined;
    return { append: [{ type: "run_started", runId: runId(`r${truth.runs + 1}`) }] };
  }

  /** Takes up queued inputs and begins a turn, or ends the run. */
  #between(truth: Truth, run: string): readonly FactBody[] {
    const id = runId(run);
    const more = truth.turns === 0 || truth.queue.length > 0 || truth.calls > 0;
    if (truth.aborting || !more) {
      const outcome = truth.aborting ? "aborted" : "completed";
      return [{ type: "run_finished", runId: id, outcome, closes: this.#closes() }];
    }
    const taken = truth.queue.map((input): FactBody => {
      const parts = [{ kind: "text", id: partId("p"), text: input } as const];
      const item = { id: itemId(`said.${input}`), author: "user", parts, stop: "end" } as const;
      return { type: "item_committed", item, inputId: inputId(input), runId: id };
    });
    const next = turnId(`${run}.t${truth.turns + 1}`);
    return [...taken, { type: "turn_started", runId: id, turnId: next }];
  }

  #closes(): number {
    const { incarnation, generation } = this;
    return packEpoch({ incarnation, generation, attempt: 4_095 });
  }
}
