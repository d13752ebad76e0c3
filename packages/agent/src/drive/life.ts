import type { RunId, SessionUid } from "@millrace/core";
import { uniqueName } from "@millrace/core/memory";
import type { Clock, DriverIndex, LivingSign, SessionStore } from "@millrace/core/ports";
import { defaultTimes, isDead, observe } from "./observation.ts";
import type { LifeTimes, Observation } from "./observation.ts";

export interface LifeOptions {
  readonly clock: Clock;
  readonly times?: LifeTimes | undefined;
  readonly name?: string | undefined;
}

/** Beats that may be unanswered at once. A lost connection then does not silence a healthy process. */
const beatsAtOnce = 3;

/** A session that this process leaves to another driver for now. */
interface LeftSession {
  readonly drivers: DriverIndex;
  readonly claim: SessionClaim;
  readonly sign: LivingSign;
  readonly wake: () => void;
  /** When this process drives the session in any case, by the monotonic clock. */
  readonly until: number;
}

/**
 * The signs of life of this process, and its observation of others, in one store. While it drives at
 * least one run it counts its beat up every 500 ms; a run that is shorter costs no write. The beats of
 * other drivers are read only while sessions are left to them: one read for each such driver, however
 * many sessions it drives.
 */
export class DriverLife {
  readonly name: string;
  readonly #clock: Clock;
  readonly #times: LifeTimes;
  readonly #driven = new Map<SessionUid, DriverIndex>();
  readonly #left = new Map<SessionUid, LeftSession>();
  readonly #observations = new Map<string, Observation>();
  /** When old observations were last dropped, by the monotonic clock. */
  #forgotAt = -Infinity;
  #beating: AbortController | undefined;
  #leaving: Promise<void> = Promise.resolve();
  /** The indexes that have, or may have, a beat of this process. */
  readonly #listed = new Set<DriverIndex>();
  #watching: AbortController | undefined;

  constructor({ clock, times = defaultTimes, name = `driver_${uniqueName()}` }: LifeOptions) {
    this.name = name;
    this.#clock = clock;
    this.#times = times;
  }

  /** This process drives a run of the session from now on. Without an index it shows no sign. May be repeated. */
  drive(uid: SessionUid, drivers: DriverIndex | undefined): void {
    if (drivers === undefined) return;
    this.#driven.set(uid, drivers);
    if (this.#beating === undefined) this.#beat();
  }

  /** This process drives no run of the session any more. After the last one it leaves the index. */
  rest(uid: SessionUid): void {
    this.#driven.delete(uid);
    if (this.#driven.size === 0) this.#beating?.abort();
  }

  /** Resolves once the index has forgotten a process that drives nothing, or after one beat's time. */
  async left(): Promise<void> {
    const done = new AbortController();
    await Promise.race([this.#leaving, this.#clock.sleep(this.#times.beatMs, done.signal)]);
    done.abort();
  }

  /**
   * Whether another driver that lives has the session. If so, the session is left to it: `wake` is
   * called once when that driver is dead, when the session has another one, or after `patienceMs`.
   * Until then calls for the same claim and run cost no read. Rejects if the store does not answer.
   */
  async isDriven(
    claim: SessionClaim,
    { drivers, wake, patienceMs }: LeaveOptions,
  ): Promise<boolean> {
    const { uid } = claim;
    const now = this.#clock.monotonic();
    const before = this.#left.get(uid);
    if (before?.claim.incarnation === claim.incarnation && before.claim.run === claim.run) {
      if (now < before.until) return true;
      this.takeBack(uid);
      return false;
    }
    const sign = await this.#find(drivers, claim);
    if (!this.lives(sign, claim)) return false;
    this.#left.set(uid, { drivers, claim, sign, wake, until: now + patienceMs });
    if (this.#watching === undefined) void this.#watch();
    return true;
  }

  /** The session is no longer left to another driver: it is driven here, or closed. */
  takeBack(uid: SessionUid): void {
    this.#left.delete(uid);
    if (this.#left.size === 0) this.#watching?.abort();
  }

  /** Takes in the signs of one read. The time of the request is that of the monotonic clock. */
  noteSigns(signs: readonly SignOfSession[], sentAt: number): void {
    const answeredAt = this.#clock.monotonic();
    for (const one of signs) {
      const key = keyOf(one.sign, one);
      const read = { beat: one.sign.beat, sentAt, answeredAt };
      this.#observations.set(key, observe(this.#observations.get(key), read, this.#times));
    }
    this.#forgetOld(answeredAt);
  }

  /** Drops observations that the next read would start anew. Looks at all of them, so not at each read. */
  #forgetOld(now: number): void {
    if (now - this.#forgotAt <= this.#times.gapMs) return;
    this.#forgotAt = now;
    for (const [key, { answeredAt }] of this.#observations)
      if (now - answeredAt > this.#times.gapMs) this.#observations.delete(key);
  }

  /**
   * True if the sign is of another driver that is not known to be dead. An engine never is: it restarts
   * its work by itself, in any process, also in this one, so that its silence is no death. Its run is
   * left to it, and an input that it has claimed for as long as the patience with that lasts.
   */
  lives(sign: LivingSign | undefined, of: SessionClaim): sign is LivingSign {
    if (sign?.by !== undefined) return true;
    if (sign === undefined || sign.driver === this.name) return false;
    const observed = this.#observations.get(keyOf(sign, of));
    return observed === undefined || observed.beat !== sign.beat || !isDead(observed, this.#times);
  }

  #beat(): void {
    const over = new AbortController();
    this.#beating = over;
    const run = async (): Promise<void> => {
      const sent = new Set<Promise<void>>();
      for (;;) {
        await this.#clock.sleep(this.#times.beatMs, over.signal);
        if (over.signal.aborted) break;
        // One beat for all sessions of an index. Stores of several tenants may have one each.
        for (const drivers of new Set(this.#driven.values())) {
          if (sent.size >= beatsAtOnce * (this.#listed.size + 1)) break;
          const beat = drivers.beat(this.name).catch(() => undefined); // the store is away: beats later
          sent.add(beat);
          void beat.then(() => sent.delete(beat));
          this.#listed.add(drivers);
        }
      }
      this.#beating = undefined;
      if (this.#driven.size > 0) return this.#beat();
      const listed = [...this.#listed];
      this.#listed.clear();
      await Promise.all(sent);
      // A driver that stays in the index for want of a store is found dead there.
      await Promise.all(listed.map((drivers) => drivers.leave(this.name).catch(() => undefined)));
    };
    this.#leaving = run();
  }

  async #watch(): Promise<void> {
    const over = new AbortController();
    this.#watching = over;
    let pauseMs = this.#times.beatMs;
    while (!over.signal.aborted) {
      await this.#clock.sleep(pauseMs, over.signal);
      const begun = this.#clock.monotonic();
      // The run of an engine is not looked at: another claim and a release are facts, which wake as well.
      const observed = [...this.#left].filter(
        ([, { sign, until }]) => sign.by === undefined || until < Infinity,
      );
      const groups = Map.groupBy(observed, ([, { sign }]) => sign.driver);
      await Promise.all([...groups.values()].map((sessions) => this.#look(sessions)));
      // A slow answer does not stretch the time between two reads: a gap would start observations anew.
      const { beatMs } = this.#times;
      pauseMs = Math.max(beatMs / 10, beatMs - (this.#clock.monotonic() - begun));
    }
    this.#watching = undefined;
    if (this.#left.size > 0) void this.#watch();
  }

  /** Reads the beat of one driver by its sessions, and wakes those that it no longer keeps. */
  async #look(sessions: readonly (readonly [SessionUid, LeftSession])[]): Promise<void> {
    const driver = sessions[0]?.[1].sign.driver;
    const sentAt = this.#clock.monotonic();
    let read: LivingSign | undefined;
    for (const [uid, { drivers, claim }] of sessions) {
      if (read?.beat !== undefined) break; // one read is enough for all of its sessions
      const sign = await this.#find(drivers, claim).catch(() => "unknown" as const);
      if (sign === "unknown") return;
      if (sign?.driver === driver) read = sign;
      if (!this.lives(sign, claim) || sign.driver !== driver) this.#wake(uid);
    }
    if (read?.beat !== undefined) {
      const sign = read; // for all of its sessions
      this.noteSigns(
        sessions.map(([, { claim }]) => ({ ...claim, sign })),
        sentAt,
      );
    }
    const now = this.#clock.monotonic();
    for (const [uid, { claim, until }] of sessions) {
      const isOver = read?.beat !== undefined && !this.lives(read, claim);
      if (isOver || now >= until) this.#wake(uid);
    }
  }

  /** The session's driver decides again. It reads the index anew, unless its patience is over. */
  #wake(uid: SessionUid): void {
    const session = this.#left.get(uid);
    if (session === undefined) return;
    if (this.#clock.monotonic() < session.until) this.takeBack(uid);
    session.wake();
  }

  async #find(drivers: DriverIndex, claim: SessionClaim): Promise<LivingSign | undefined> {
    const sentAt = this.#clock.monotonic();
    const sign = await drivers.find(claim.uid);
    if (sign !== undefined) this.noteSigns([{ ...claim, sign }], sentAt);
    return sign;
  }
}

export interface LeaveOptions {
  /** The index of the session's store. */
  readonly drivers: DriverIndex;
  readonly wake: () => void;
  readonly patienceMs: number;
}

/** A claim of a session, and what its driver does by it. */
export interface SessionClaim {
  readonly uid: SessionUid;
  readonly incarnation: number;
  /** The run that is on. Left out: it is about to begin one. */
  readonly run?: RunId | undefined;
}

/** A session's driver as it was read. */
export interface SignOfSession extends SessionClaim {
  readonly sign: LivingSign;
}

/**
 * What is observed: a driver in a single run. Between two runs it may have rested: then it has left the
 * index, and its beats begin anew, so what was seen of it in one run is not true of the next.
 */
function keyOf({ driver }: LivingSign, { uid, incarnation, run }: SessionClaim): string {
  return `${driver} ${uid} ${incarnation} ${run ?? ""}`;
}

/** Whose signs of life they are. */
export interface LifeOwner {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
}

/** One life for each store and clock of this process. */
const lives = new WeakMap<SessionStore, WeakMap<Clock, DriverLife>>();

/** The life of this process in the store. The first call names it, by chance. */
export function lifeOf({ store, clock, random }: LifeOwner): DriverLife {
  const known = lives.get(store)?.get(clock);
  if (known !== undefined) return known;
  const life = new DriverLife({ clock, name: `driver_${uniqueName(random)}` });
  shareLife(store, clock, life);
  return life;
}

/** Lets drivers of this store use the given life: for stores of several tenants in one database. */
export function shareLife(store: SessionStore, clock: Clock, life: DriverLife): void {
  const ofStore = lives.get(store) ?? new WeakMap<Clock, DriverLife>();
  lives.set(store, ofStore);
  ofStore.set(clock, life);
}
