// A process of its own. Follows a session by server-sent events, disconnects after every event,
// reconnects with its cursor, and prints what it has received once the run is finished.
import { narrate, project } from "@millrace/core";
import { apply, emptyState, restore } from "@millrace/core/reading";
import { createSseDecoder, decodeMessage } from "@millrace/core/wire";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionState } from "@millrace/core";
import type { Message } from "@millrace/core/wire";

const [url = ""] = process.argv.slice(2);
let state: SessionState = emptyState(sessionUid("none"), sessionId("none"));
let cursor = "";
let received = "";
let connections = 0;
const verdicts = new Map<string, number>();

while (state.ended === undefined) {
  connections += 1;
  const hangUp = new AbortController();
  const response = await fetch(url, {
    headers: { "last-event-id": cursor },
    signal: hangUp.signal,
  });
  if (response.body === null) throw new Error(`no body: ${response.status}`);
  const decoder = createSseDecoder();
  const text = new TextDecoder();
  for await (const bytes of response.body) {
    // The chunk may contain more events; all but the first are dropped, as by a cut.
    const first = decoder
      .feed(text.decode(bytes, { stream: true }))
      .find((item) => item.kind === "event");
    if (first === undefined) continue;
    take(first.data);
    cursor = first.id;
    break;
  }
  hangUp.abort();
}

const items = project(state).items;
process.stdout.write(
  JSON.stringify({ connections, received, items, verdicts: Object.fromEntries(verdicts) }),
);

function take(data: string): void {
  const decoded = decodeMessage(data);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const message: Message = decoded.value;
  if ("closedLanes" in message) {
    state = restore(message);
    received = shownText(); // the text before this viewer joined
    count("snapshot");
    return;
  }
  for (const event of narrate(state, message))
    if (event.type === "assistant_text_delta") received += event.text;
  const applied = apply(state, message);
  ({ state } = applied);
  count(applied.verdict);
}

function shownText(): string {
  const parts = project(state).items.flatMap((item) => item.parts);
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function count(verdict: string): void {
  verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
}
