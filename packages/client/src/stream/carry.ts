import { createSseDecoder } from "@millrace/core/wire";
import type { StreamEndReason } from "@millrace/core/wire";
import type { ConnectionEvent } from "../connection/machine.ts";
import { retryAfterOf } from "../http/requests.ts";
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
  /** What the stream shows besides the sessions of this client: those of other tabs. */
  readonly positions?: (() => readonly SessionPosition[]) | undefined;
  /** Called with the messages that came together, before they are taken; without any for a heartbeat. */
  readonly pass?: ((messages: readonly Passed[]) => void) | undefined;
  /** Called with the answer that brings the stream once it is open. */
  readonly onOpen?: ((response: Response) => void) | undefined;
}

/** A message of a stream with its id. */
export type Passed = readonly [data: string, id: string];

/** All watched sessions in one stream, to its end. Rejects if it breaks. */
export async function carryStream(carried: Carried): Promise<void> {
  const { requests, sessions, signal, report } = carried;
  const positions = carried.positions?.() ?? sessions.wanted.map(({ position }) => position);
  sessions.begin();
  const headers = { accept: "text/event-stream" };
  const response = await requests.send("/v1/events", {
    body: { sessions: positions, children: true },
    headers,
    signal,
  });
  if (!response.ok || response.body === null) return refuse(response, report);
  report({ type: "opened" });
  carried.onOpen?.(response);
  const reader = response.body.getReader();
  const text = new TextDecoder();
  const decoder = createSseDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) break;
    report({ type: "bytes" });
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

/** Connections that a page may use for polls: a browser has six to an origin for all its tabs. */
const pollsAtOnce = 3;
/** How long a poll waits at the server; less where sessions wait for their turn. */
const waitSeconds = { alone: 25, inTurns: 2 } as const;

/** The same by long polling, for where a stream is held back. Rejects if a poll breaks. */
export async function carryJson({ requests, sessions, signal, report }: Carried): Promise<void> {
  const all = sessions.wanted;
  sessions.begin();
  const queue = [...all];
  const wait = waitSeconds[all.length > pollsAtOnce ? "inTurns" : "alone"];
  const work = async (): Promise<void> => {
    for (let session = queue.shift(); session !== undefined; session = queue.shift()) {
      const { id, cursor } = session.position;
      const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const response = await requests.send(
        `/v1/sessions/${encodeURIComponent(id)}/events${query}`,
        {
          headers: { accept: "application/json", prefer: `wait=${wait}` },
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
  void response.body?.cancel();
  report({ type: "refused", status: response.status, retryAfterMs: retryAfterOf(response) });
}
