import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInbox } from "@millrace/core";
import { follow } from "@millrace/core/reading";
import type { Message } from "@millrace/core/wire";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { textOfDirective } from "../kit/deployment/directive.ts";
import type { Directive } from "../kit/deployment/directive.ts";
import { pacedAgent } from "../kit/deployment/paced-agent.ts";
import type { Effect } from "../kit/deployment/paced-agent.ts";
import { ViewerChecks } from "../kit/deployment/viewer-checks.ts";
import type { SentCommand, SessionHistory } from "./oracle.ts";

/** A history without faults, and the messages by which its one viewer saw it. */
export interface RecordedHistory {
  readonly history: SessionHistory;
  readonly messages: readonly Message[];
}

const session = "recorded";

/** Records a session in memory with every sort of command: inputs, a decision, a withdrawal. */
export async function recordHistory(): Promise<RecordedHistory> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-recorded-"));
  const effectsFile = join(folder, "effects.jsonl");
  writeFileSync(effectsFile, "");
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const agent = pacedAgent({ name: "one", effects: effectsFile, chunkMs: 1 });
  await using opened = await agent.open({ id: session, store, log });
  const record = await store.find(session);
  if (record === undefined) throw new Error("the session is not stored");
  const { uid, sessionId } = record;
  const leaving = new AbortController();
  const messages: Message[] = [];
  const watching = (async () => {
    const ports = { store, log, clock: systemClock, uid, sessionId };
    for await (const { message } of follow({ ...ports, signal: leaving.signal }))
      messages.push(message);
  })();
  const inbox = createInbox({ store, log, uid });
  const sent: SentCommand[] = [];
  const send = async (key: string, mode: Directive["mode"]): Promise<void> => {
    const text = textOfDirective({ key, mode, length: 60 });
    const { accepted } = await inbox.send(text, { key });
    sent.push({ call: "send", key, text, session, outcome: accepted ? "accepted" : "refused" });
  };
  await send("plain", "plain");
  await send("many", "many");
  await send("ask", "ask");
  await send("back", "plain");
  const target = "input_back";
  if ((await inbox.takeBack(target)).accepted)
    sent.push({ call: "takeBack", key: "k", target, session, outcome: "accepted" });
  await until(() => opened.approvals.length > 0);
  const asked = opened.approvals[0]?.id ?? "";
  if ((await inbox.allow(asked)).accepted)
    sent.push({ call: "allow", key: "k", target: asked, session, outcome: "accepted" });
  await until(() => opened.status === "idle" && opened.queue.length === 0);
  const facts = await store.read(uid);
  await until(() => messages.some((message) => "n" in message && message.n === facts.length));
  leaving.abort();
  await watching;
  const lines = readFileSync(effectsFile, "utf8").split("\n");
  const effects = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Effect);
  rmSync(folder, { recursive: true, force: true });
  const viewers = [watch(messages)];
  const history = { sessionId, uid, facts, sent, effects, viewers, verified: true };
  return { history, messages };
}

/** What a viewer of these messages saw. */
export function watch(messages: readonly Message[]): SessionHistory["viewers"][number] {
  const checks = new ViewerChecks();
  for (const message of messages) checks.take(message);
  return { state: checks.state, faults: checks.faults };
}

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 2_000; !isSo(); left -= 1) {
    if (left === 0) throw new Error("the recorded session does not go on");
    await systemClock.sleep(5);
  }
}
