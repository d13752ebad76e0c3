import { emptyState, replay } from "@millrace/core/reading";
import type { Fact } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { terminalLine } from "@millrace/agent/terminal";

interface Entry {
  readonly id: string;
  readonly time: number;
  readonly prompt: string;
  readonly interrupted: boolean;
}

const page = 100;
const maxPages = 100;

/** One line for each session, the latest first: its name, when it was last used, how it began. */
export async function listSessions(store: SessionStore): Promise<readonly string[]> {
  const entries: Entry[] = [];
  let after: SessionRecord["sessionId"] | undefined;
  for (let turn = 0; turn < maxPages; turn += 1) {
    const records = await store.list({ after, limit: page });
    for (const record of records) entries.push(entryOf(record, await store.read(record.uid)));
    after = records.at(-1)?.sessionId;
    if (records.length < page) break;
  }
  const latest = entries.toSorted((a, b) => b.time - a.time);
  const width = latest.reduce((longest, { id }) => Math.max(longest, id.length), 0);
  return latest.map((entry) => lineOf(entry, Math.min(width, 40)));
}

function entryOf({ uid, sessionId }: SessionRecord, facts: readonly Fact[]): Entry {
  const { run } = replay(emptyState(uid, sessionId), facts);
  const first = facts.find((fact) => fact.type === "input_accepted");
  const parts = first?.type === "input_accepted" && "parts" in first.input ? first.input.parts : [];
  const prompt = parts.map((part) => (part.kind === "text" ? part.text : "")).join(" ");
  return {
    id: terminalLine(sessionId),
    time: facts.at(-1)?.time ?? 0,
    prompt: terminalLine(prompt, 60),
    interrupted: run !== undefined,
  };
}

function lineOf({ id, time, prompt, interrupted }: Entry, width: number): string {
  const when =
    time === 0 ? "never used      " : new Date(time).toISOString().slice(0, 16).replace("T", " ");
  return `${id.padEnd(width)}  ${when}  ${interrupted ? "(interrupted) " : ""}${prompt}`.trimEnd();
}
