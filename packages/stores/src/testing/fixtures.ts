import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packEpoch } from "@millrace/core/ports";
import type { PeopleFact, SessionStore } from "@millrace/core/ports";
import type { Floor } from "@millrace/core/store-kit";
import { inputId, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { Fact, Item, SessionId, SessionUid } from "@millrace/core";

/** A temporary folder, deleted when it is disposed of. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
}

/** Makes a folder for one test. */
export async function openFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "millrace-stores-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The session that tests write; its file is `talk.jsonl`. */
export const name: SessionId = sessionId("talk");

/** An accepted prompt. */
export function prompt(id: string, text = `prompt ${id} ü 👩‍👧`): PeopleFact {
  const parts = [{ kind: "text", id: partId("part_1"), text }] as const;
  return { type: "input_accepted", inputId: inputId(id), input: { kind: "prompt", parts } };
}

/** An item of a model. */
export function item(id: string, text = `text of ${id}`): Item {
  const part = { kind: "text", id: partId("part_1"), text } as const;
  return { id: itemId(id), author: "model", parts: [part], stop: "end" };
}

/** Makes one call of every kind that writes a line: 8 lines after the header, 9 facts, one open lane. */
export async function fillSession(store: SessionStore, uid: SessionUid): Promise<void> {
  const [run, turn] = [runId("run_1"), turnId("turn_1")];
  const inTurn = { runId: run, turnId: turn };
  await store.claim(uid, { from: 0 });
  await store.accept(uid, "key_1", prompt("input_1"));
  const bodies = [
    { type: "run_started", runId: run },
    { type: "turn_started", ...inTurn },
  ] as const;
  await store.append(uid, { incarnation: 1, head: 2, bodies });
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
  await store.open(uid, { lane: 0, epoch, itemId: itemId("item_1") });
  const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
  await store.commit(uid, {
    fact: { type: "item_committed", item: item("item_1"), lane: 0, epoch, ...inTurn },
    settlement: [{ type: "usage_reported", ...inTurn, epoch, usage }],
  });
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  const media = { kind: "media", id: partId("part_1"), mediaType: "image/png", bytes } as const;
  const seen: Item = { id: itemId("item_2"), author: "user", parts: [media], stop: "end" };
  const original = { type: "from_tomorrow", values: [1, null, "é"] };
  await store.append(uid, {
    incarnation: 1,
    head: 6,
    bodies: [
      { type: "item_committed", item: seen },
      { type: "opaque", original },
    ],
  });
  const second = packEpoch({ incarnation: 1, generation: 2, attempt: 1 });
  await store.open(uid, { lane: 3, epoch: second, itemId: itemId("item_3") });
  await store.accept(uid, "key_2", prompt("input_2"));
}

/** All that a store holds of a session. */
export interface SessionContent {
  readonly facts: readonly Fact[];
  readonly floors: readonly Floor[];
}

/** Reads a session by the store's own calls. */
export async function contentOf(store: SessionStore, uid: SessionUid): Promise<SessionContent> {
  return { facts: await store.read(uid), floors: await store.floors(uid) };
}

/** The file's lines with their line ends. */
export async function linesOf(path: string): Promise<readonly Buffer[]> {
  const bytes = await readFile(path);
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(0x0a, from) + 1;
    lines.push(bytes.subarray(from, end));
    from = end;
  }
  return lines;
}

/** Writes a file of these lines, whatever they are. */
export async function writeLines(path: string, lines: readonly Buffer[]): Promise<void> {
  await writeFile(path, Buffer.concat(lines), { mode: 0o600 });
}
