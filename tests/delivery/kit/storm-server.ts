/**
 * A server in a process of its own, which is killed and started again. Its first message names the
 * engines, the port and the sessions; it answers `listening` with its port. `reads` is answered with what
 * each session has cost since it started.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SessionId, SessionUid } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { decodeCursor } from "@millrace/core/wire";
import { createHub, sseSink } from "@millrace/server/hub";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";

export interface StormSession {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
}

export type ServerRequest =
  | {
      readonly ask: "listen";
      readonly port: number;
      readonly postgres: string;
      readonly redis: string;
      readonly sessions: readonly StormSession[];
    }
  | { readonly ask: "reads" };

/** What the sessions of one server process have cost. */
export interface SessionReads {
  /** Reads of facts, without the first of each session, by which it is joined; and of single heads. */
  readonly facts: number;
  readonly heads: number;
  /** The shortest time between two of one session, in milliseconds. */
  readonly factsGapMs: number;
  readonly headsGapMs: number;
}

/** Counts calls, and the shortest time between two for the same session. */
class CallGaps {
  readonly #lastAt = new Map<SessionUid, number>();
  calls = 0;
  gapMs = Infinity;

  add(uid: SessionUid): void {
    const now = performance.now();
    this.calls += 1;
    this.gapMs = Math.min(this.gapMs, now - (this.#lastAt.get(uid) ?? -Infinity));
    this.#lastAt.set(uid, now);
  }
}

const joined = new Set<SessionUid>();
const facts = new CallGaps();
const heads = new CallGaps();

function counted(store: SessionStore): SessionStore {
  const each = async (uids: readonly SessionUid[]): Promise<ReadonlyMap<SessionUid, number>> =>
    new Map(await Promise.all(uids.map(async (uid) => [uid, await store.head(uid)] as const)));
  return {
    ...store,
    read: (uid, options) => {
      if (joined.has(uid)) facts.add(uid);
      joined.add(uid);
      return store.read(uid, options);
    },
    head: (uid) => {
      heads.add(uid);
      return store.head(uid);
    },
    // The poll, which is not counted.
    heads: store.heads ?? each,
  };
}

function listen(request: Extract<ServerRequest, { ask: "listen" }>): void {
  const { sessions, port } = request;
  const store = counted(postgresStore({ url: request.postgres }));
  const log = redisLog({ url: request.redis });
  const hub = createHub({ store, log, clock: systemClock });
  const server = createServer((incoming, response) => {
    const session = sessions[Number(incoming.url?.slice(1))];
    if (session === undefined) throw new TypeError(incoming.url);
    const { "last-event-id": id } = incoming.headers;
    const cursor = typeof id === "string" ? decodeCursor(id) : undefined;
    hub
      .deliver({ ...session, cursor, form: "whole" }, sseSink(response))
      .catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1", 16_384, () => {
    process.send?.({ given: (server.address() as AddressInfo).port }); // it listens on a port
  });
}

process.on("message", (request: ServerRequest) => {
  if (request.ask === "listen") listen(request);
  else {
    const given: SessionReads = {
      facts: facts.calls,
      heads: heads.calls,
      factsGapMs: facts.gapMs,
      headsGapMs: heads.gapMs,
    };
    process.send?.({ given });
  }
});
process.on("disconnect", () => process.exit(0));
