import { packEpoch } from "@millrace/core/ports";
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import { emptyState, follow, replay } from "@millrace/core/reading";
import { runId, turnId } from "@millrace/core/writing";
import type { Fact, Item, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { assert, assertOutcome } from "./case.ts";
import type { DeliveryFollow, MovableClock, OpenedDelivery } from "./delivery-fixture.ts";
import { startItemWriter } from "./delivery-writer.ts";
import type { ItemWriter, StartOptions } from "./delivery-writer.ts";
import { draftText } from "./delivery-text.ts";
import { newName } from "./session-store-fixture.ts";
import { prompt } from "./session-store-bodies.ts";
import { withKeys } from "./with-keys.ts";

/** Real time after which a condition counts as never fulfilled. */
const timeoutMs = 4_000;
const run = runId("run_1");

/**
 * A session with its driver, its writers and the text that they wrote. Viewers are checked against
 * that text: they always show a prefix of it, and in the end all of it.
 */
export class DeliverySession implements AsyncDisposable {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: MovableClock;
  readonly follow: DeliveryFollow;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Writers that hold their lanes, by lane. */
  readonly open: Map<number, ItemWriter> = new Map();
  readonly #writers = new Map<Epoch, ItemWriter>();
  #head = 0;
  #incarnation = 0;
  #generation = 0;
  #turns = 0;
  #inputs = 0;

  private constructor(opened: OpenedDelivery, uid: SessionUid, name: SessionId) {
    this.store = opened.store;
    this.log = withKeys(opened.log, opened.store.key);
    this.clock = opened.clock;
    this.follow = opened.follow ?? follow;
    this.uid = uid;
    this.sessionId = name;
  }

  /** Creates and claims a session, and begins a run and its first turn. */
  static async open(opened: OpenedDelivery): Promise<DeliverySession> {
    const { uid, sessionId: name } = await opened.store.create({ sessionId: newName() });
    const session = new DeliverySession(opened, uid, name);
    await session.claim();
    await session.begin();
    return session;
  }

  /** The number of the last fact. */
  get head(): number {
    return this.#head;
  }

  /** The text that the writer of an epoch has written so far. */
  textOf(epoch: Epoch): string | undefined {
    const writer = this.#writers.get(epoch);
    return writer && draftText(writer.laneWriter.draft());
  }

  /** Accepts an input. */
  async acceptInput(): Promise<void> {
    this.#inputs += 1;
    const body = prompt(`input_${this.#inputs}`);
    const answer = await this.store.accept(this.uid, `key_${this.#inputs}`, body);
    await this.publish(assertOutcome(answer, "accepted", "the input").facts);
  }

  /** Appends facts as the driver, and announces them. */
  async appendFacts(bodies: readonly FactBody[]): Promise<void> {
    const request = { incarnation: this.#incarnation, head: this.#head, bodies };
    const answer = await this.store.append(this.uid, request);
    await this.publish(assertOutcome(answer, "appended", "the driver's append").facts);
  }

  /** Claims the session for another driver. `to` resets it. */
  async claim(to?: number): Promise<void> {
    const answer = await this.store.claim(this.uid, { from: this.#incarnation, to });
    const claimed = assertOutcome(answer, "claimed", "the claim");
    this.#incarnation = claimed.incarnation;
    this.#generation = 0;
    this.open.clear();
    await this.publish(claimed.facts);
  }

  /** Begins a run and its first turn. */
  async begin(): Promise<void> {
    this.#turns += 1;
    await this.appendFacts([
      { type: "run_started", runId: run },
      { type: "turn_started", runId: run, turnId: this.#turnId() },
    ]);
  }

  /** Ends the turn, which closes all lanes, and begins the next one. */
  async nextTurn(): Promise<void> {
    const closes = packEpoch({
      incarnation: this.#incarnation,
      generation: this.#generation,
      attempt: 4_095,
    });
    const finished = { runId: run, turnId: this.#turnId(), stop: "end", closes } as const;
    this.#turns += 1;
    this.open.clear();
    await this.appendFacts([
      { type: "turn_finished", ...finished },
      { type: "turn_started", runId: run, turnId: this.#turnId() },
    ]);
  }

  /** Starts a writer, or another attempt at an earlier writer's item. */
  async start(options: StartOptions = {}): Promise<ItemWriter> {
    const { again } = options;
    if (again === undefined) this.#generation += 1;
    const epoch =
      again === undefined
        ? packEpoch({ incarnation: this.#incarnation, generation: this.#generation, attempt: 1 })
        : again.epoch + 1;
    const writer = await startItemWriter(this, epoch, options);
    this.#writers.set(epoch, writer);
    this.open.set(writer.lane, writer);
    return writer;
  }

  /** Commits the item of a writer, announces it, and closes the writer. False if it was fenced. */
  async commit(writer: ItemWriter, instead?: Item): Promise<boolean> {
    const facts = await writer.commit(instead);
    if (facts === undefined) return false;
    this.open.delete(writer.lane);
    await this.publish(facts);
    await writer.laneWriter.close();
    return true;
  }

  /** Announces facts that are stored. */
  async publish(facts: readonly Fact[]): Promise<void> {
    this.#head = facts.at(-1)?.n ?? this.#head;
    for (const fact of facts) await this.log.announce(this.uid, fact);
  }

  /** The state by the store's facts. Without open lanes. */
  async storedState(): Promise<SessionState> {
    return replay(emptyState(this.uid, this.sessionId), await this.store.read(this.uid));
  }

  /**
   * Advances the clock until the condition is true. At most a hundred short steps, so that a poll
   * does not hide a missing message. Engines in memory need no real time; others get some.
   */
  async until(condition: () => boolean, what: string, stepMs = 10): Promise<void> {
    const start = Date.now();
    for (let round = 0; !condition(); round += 1) {
      assert(Date.now() - start < timeoutMs, `never came to be: ${what}`);
      const waits = round < 5 || (round > 105 && stepMs < 100);
      await this.clock.advance(waits ? 0 : stepMs);
      if (round > 105) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A writer whose log fails by design waits for time to pass.
    const closed = Promise.all(
      [...this.#writers.values()].map(({ laneWriter }) => laneWriter.close()),
    );
    await Promise.race([closed, this.clock.advance(60_000)]);
  }

  #turnId(): ReturnType<typeof turnId> {
    return turnId(`turn_${this.#turns}`);
  }
}
