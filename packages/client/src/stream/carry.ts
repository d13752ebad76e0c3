import { createSseDecoder } from "@millrace/core/wire";
import type { StreamEndReason } from "@millrace/core/wire";
import type { ConnectionEvent } from "../connection/machine.ts";
import { jsonOf, retryAfterOf } from "../http/requests.ts";
import type { Requests } from "../http/requests.ts";
import type { SessionPosition, WatchedSessions } from "./watched.ts";

/** An event of one connection, which its owner numbers. */
export type Report = (
  event: ConnectionEvent extends infer Each
    ? Each extends { readonly number: number }
      ? Omit<Each, "number">
      : never
    : never,
) => void;

/** What a connection is made of. */
export interface Carried {
  readonly requests: Requests;
  readonly sessions: WatchedSessions;
  readonly signal: AbortSignal;
  readonly report: Report;
  /** Of a poll: how long it may wait, as a part of what is usual. */
  readonly pace?: number | undefined;
  /** What the stream shows besides the sessions of this client: those of other tabs. */
  readonly positions?: (() => readonly SessionPosition[]) | undefined;
  /** Called with the messages that came together, before they are taken; without any for a heartbeat. */
  readonly pass?: ((messages: readonly Passed[]) => void) | undefined;
  /** Called with the answer that brings the stream once it is open. */
  readonly onOpen?: ((response: Response) => void) | undefined;
}

/** A message of a stream with its id. */
export type Passed = readonly [data: string, id: string];

/**
 * All watched sessions, to the end of what brings them: one stream, or several where they are too many for one.
 * Several are one connection: it is open, and has bytes, when each has. Rejects if one breaks.
 */
export async function carryStream(carried: Carried): Promise<void> {
  const { sessions, report } = carried;
  const positions = carried.positions?.() ?? sessions.wanted.map(({ position }) => position);
  sessions.begin();
  const parts = partsOf(positions, sessions.perStream);
  const opened = onceEach(parts.length, () => report({ type: "opened" }));
  const bytes = onceEach(parts.length, () => report({ type: "bytes" }));
  await Promise.all(
    parts.map((part, at) =>
      carryPart(carried, part, { onOpen: () => opened(at), onBytes: () => bytes(at) }),
    ),
  );
}

/** One stream of a connection, to its end. */
async function carryPart(
  carried: Carried,
  positions: readonly SessionPosition[],
  { onOpen, onBytes }: { readonly onOpen: () => void; readonly onBytes: () => void },
): Promise<void> {
  const { requests, sessions, signal, report } = carried;
  const headers = { accept: "text/event-stream" };
  const response = await requests.send("/v1/events", {
    body: { sessions: positions, children: true },
    headers,
    signal,
  });
  if (response.status === 429) sessions.perStream = await roomOf(response, sessions.perStream);
  if (!response.ok || response.body === null) return refuse(response, report);
  onOpen();
  carried.onOpen?.(response);
  const reader = response.body.getReader();
  const text = new TextDecoder();
  const decoder = createSseDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) break;
    onBytes();
    const items = decoder
      .feed(text.decode(value, { stream: true }))
      .filter((item) => item.kind !== "event" || item.event === "message");
    carried.pass?.(items.flatMap((item) => (item.kind === "event" ? [[item.data, item.id]] : [])));
    for (const item of items) {
      if (item.kind === "retry") report({ type: "retry", ms: item.ms });
      else if (item.kind === "overflow") report({ type: "gap" });
      else {
        const taken = sessions.take(item.data, item.id);
        if (taken !== undefined) report(taken);
      }
      if (signal.aborted) break;
    }
    sessions.flush();
  }
  if (!signal.aborted) report({ type: "ended" });
}

/** At least one part: a stream of no sessions is refused as any other. */
function partsOf(
  positions: readonly SessionPosition[],
  size: number,
): readonly (readonly SessionPosition[])[] {
  const count = Math.max(1, Math.ceil(positions.length / size));
  return Array.from({ length: count }, (_, at) => positions.slice(at * size, (at + 1) * size));
}

/** Calls back when each of so many has come, and again when each has come once more. */
function onceEach(count: number, call: () => void): (at: number) => void {
  const come = new Set<number>();
  return (at) => {
    if (come.add(at).size < count) return;
    come.clear();
    call();
  };
}

/** How many sessions a stream may show by a refusal that names its limit. */
async function roomOf(response: Response, known: number): Promise<number> {
  const { policy, limit } = await jsonOf(response).catch(
    (): Awaited<ReturnType<typeof jsonOf>> => ({}),
  );
  const isNamed = policy === "sessionsPerStream" && typeof limit === "number";
  return isNamed ? Math.max(1, Math.min(known, limit)) : known;
}

/** Connections that a page may use for polls: a browser has six to an origin for all its tabs. */
const pollsAtOnce = 3;
/** How long a poll waits at the server; less where sessions wait for their turn. */
const waitSeconds = { alone: 25, inTurns: 2 } as const;

/** The same by long polling, for where a stream is held back. Rejects if a poll breaks. */
export async function carryJson(carried: Carried): Promise<void> {
  const { requests, sessions, signal, report, pace = 1 } = carried;
  const all = sessions.wanted;
  sessions.begin();
  const queue = [...all];
  const usual = waitSeconds[all.length > pollsAtOnce ? "inTurns" : "alone"];
  const wait = Math.max(1, Math.floor(usual * pace));
  // Answered at once: it is known soon that polls get through, also where nothing has happened since.
  const first = new Set(all);
  const work = async (): Promise<void> => {
    for (let session = queue.shift(); session !== undefined; session = queue.shift()) {
      const { id, cursor } = session.position;
      const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const response = await requests.send(
        `/v1/sessions/${encodeURIComponent(id)}/events${query}`,
        {
          headers: {
            accept: "application/json",
            prefer: `wait=${first.delete(session) ? 0 : wait}`,
          },
          signal,
        },
      );
      if (response.status === 204) sessions.end(id, "removed");
      else if (response.status === 404) sessions.end(id, "not_found");
      else if (!response.ok) return refuse(response, report);
      else {
        const { messages, ended } = (await response.json()) as Collected; // of our server
        for (const each of messages) {
          const taken = sessions.take(JSON.stringify(each.message), each.id ?? "");
          if (taken !== undefined) return report(taken);
        }
        if (ended !== undefined) return report({ type: "ended", reason: ended });
        queue.push(session);
      }
      report({ type: "bytes" });
      sessions.flush();
      if (signal.aborted) return;
    }
  };
  await Promise.all(Array.from({ length: pollsAtOnce }, work));
}

interface Collected {
  readonly messages: readonly { readonly id?: string; readonly message: unknown }[];
  readonly ended?: StreamEndReason;
}

function refuse(response: Response, report: Report): void {
  if (!response.bodyUsed) void response.body?.cancel();
  report({ type: "refused", status: response.status, retryAfterMs: retryAfterOf(response) });
}
