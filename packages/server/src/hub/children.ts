import type { SessionId } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import type { Clock, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { Delivery, DeliveryEnd } from "./delivery.ts";
import type { WatchOptions } from "./options.ts";
import type { Room } from "./room.ts";

/** What adds sub-agents to a stream. */
export interface ChildrenOptions {
  readonly store: Pick<SessionStore, "find">;
  readonly clock: Clock;
  /** Whether the stream takes one more session. */
  readonly hasRoom: () => boolean;
  /** Delivers one more session. Undefined: the stream is over. */
  readonly add: (session: WatchOptions) => Delivery | undefined;
}

/** A sub-agent on the stream. */
interface Child {
  readonly parent: Room;
  readonly delivery: Delivery;
}

/** A sub-agent's session is made shortly after the call that names it. The store is asked this often until then. */
const lookEveryMs = 50;

/**
 * The sub-agents of a stream's sessions, and theirs: each is added when a session names it as running, and
 * leaves with `finished` once its call and its run are over. A session is looked at at each of its changes. Who may
 * read a session may read its sub-agents; when the session leaves the stream, they leave it too.
 */
export class Children {
  readonly #options: ChildrenOptions;
  /** Sessions that are on the stream. */
  readonly #known = new Set<SessionId>();
  /** Those that are on their way to it. Meanwhile the reader's own wish may have added one. */
  readonly #awaited = new Set<SessionId>();
  readonly #children = new Map<SessionId, Child>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Looks at a session of the stream from now on. The result ends that, when its delivery ends. */
  watch({ room }: Delivery, session: WatchOptions): (end: DeliveryEnd) => void {
    const { sessionId, budget } = session;
    this.#known.add(sessionId);
    let stop: () => void;
    const look = (): void => {
      stop = room.wait(look);
      this.#look(room, budget);
    };
    look();
    return (end) => {
      stop();
      this.#known.delete(sessionId);
      this.#children.delete(sessionId);
      for (const { parent, delivery } of this.#children.values())
        if (parent === room) delivery.leave(end);
    };
  }

  #look(room: Room, budget: number | undefined): void {
    if (!room.joined) return;
    for (const { childSessionId: name } of room.state.executions) {
      const isNew = name !== undefined && !this.#known.has(name) && !this.#awaited.has(name);
      if (isNew && this.#options.hasRoom()) void this.#show(name, room, budget);
    }
    for (const [name, child] of this.#children)
      if (isOver(name, child)) child.delivery.leave({ reason: "finished" });
  }

  async #show(name: SessionId, parent: Room, budget: number | undefined): Promise<void> {
    this.#awaited.add(name);
    const found = await this.#find(name, parent);
    this.#awaited.delete(name);
    if (found === undefined || this.#known.has(name) || !this.#options.hasRoom()) return;
    const { uid, sessionId } = found;
    const delivery = this.#options.add({ uid, sessionId, budget });
    if (delivery !== undefined) this.#children.set(name, { parent, delivery });
  }

  /** Undefined: the call is over, and there was no session. */
  async #find(name: SessionId, parent: Room): Promise<SessionRecord | undefined> {
    const { store, clock } = this.#options;
    for (let failures = 0; parent.end === undefined && isNamed(name, parent);) {
      try {
        const found = await store.find(name);
        if (found !== undefined) return found;
        failures = 0;
      } catch {
        failures += 1; // the store is away
      }
      await clock.sleep(failures === 0 ? lookEveryMs : endlessPause(failures, Math.random()));
    }
    return undefined;
  }
}

/** Its call and its run are over, and its viewer has been sent all facts. */
function isOver(name: SessionId, { parent, delivery }: Child): boolean {
  const { joined, state } = delivery.room;
  if (!joined || state.run !== undefined || isNamed(name, parent)) return false;
  return delivery.hasFacts;
}

function isNamed(name: SessionId, { state }: Room): boolean {
  return state.executions.some(({ childSessionId }) => childSessionId === name);
}
