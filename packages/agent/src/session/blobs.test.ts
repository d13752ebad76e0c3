import { memoryBlobs, memorySessionStore } from "@millrace/core/memory";
import { blobsInFact, sweepBlobs } from "@millrace/core/blobs";
import type { BlobScope, BlobStore, ModelRequest, SessionStore } from "@millrace/core/ports";
import { call, emit, say, scriptedModel } from "@millrace/core/testing";
import { findBlobs, partId, sessionUid } from "@millrace/core/writing";
import type { Item, Model, Part } from "@millrace/core";
import type { BlobRef } from "@millrace/core/writing";
import { expect, it, vi } from "vitest";
import { defineAgent } from "../define/define-agent.ts";

const small = new Uint8Array(32 * 1024).fill(1);
const large = new Uint8Array(32 * 1024 + 1).fill(2);
const drawn = new Uint8Array(100_000).fill(3);

function fileOf(bytes: Uint8Array<ArrayBuffer>, name = "a.pdf"): File {
  return new File([bytes], name, { type: "application/pdf" });
}

/** A model, and the requests that it got. */
function recorded(...script: Parameters<typeof scriptedModel>[0]): {
  readonly model: Model;
  readonly requests: ModelRequest[];
} {
  const requests: ModelRequest[] = [];
  const { id, stream } = scriptedModel(script);
  return {
    requests,
    model: {
      id,
      stream: (request) => {
        requests.push(request);
        return stream(request);
      },
    },
  };
}

/** A reply with an image that comes in two pieces. */
function draw(): ReturnType<typeof emit> {
  const id = partId("image");
  const mediaType = "image/png";
  return emit(
    { op: "begin_part", partId: id, kind: "media", mediaType },
    { op: "append_bytes", partId: id, chunk: drawn.slice(0, 60_000) },
    { op: "append_bytes", partId: id, chunk: drawn.slice(60_000) },
    { op: "commit_part", partId: id, part: { id, kind: "media", mediaType, bytes: drawn } },
  );
}

function bytesIn(items: readonly Item[]): readonly (Uint8Array | undefined)[] {
  const parts = items.flatMap((item) => item.parts) as readonly Part[];
  return parts.flatMap((part) =>
    part.kind === "media" || part.kind === "file" ? [part.bytes] : [],
  );
}

function blobsIn(items: readonly Item[]): readonly BlobRef[] {
  return findBlobs(items.flatMap(({ parts }) => parts));
}

async function placeOf(store: SessionStore, id: string): Promise<BlobScope> {
  const record = await store.find(id);
  if (record === undefined) throw new Error(`there is no session ${id}`);
  return record;
}

it("bytes above 32 KiB are stored as blobs, and a model is given the bytes", async () => {
  const [store, blobs] = [memorySessionStore(), memoryBlobs()];
  const { model, requests } = recorded([draw()], [say("Seen.")]);
  await using session = await defineAgent({ model }).open({ id: "talk", store, blobs });

  await session.send(["read", fileOf(small), fileOf(large)]).result;
  await session.send("and now?").result;

  const items: readonly Item[] = session.transcript;
  expect(blobsIn(items).map(({ size }) => size)).toEqual([large.length, drawn.length]);
  expect(bytesIn(items)).toEqual([small, undefined, undefined]);
  expect(bytesIn(requests[0]!.transcript)).toEqual([small, large]);
  expect(bytesIn(requests[1]!.transcript)).toEqual([small, large, drawn]);
  const facts = await store.read((await placeOf(store, "talk")).uid);
  expect(facts.flatMap(blobsInFact)).toHaveLength(3); // of the input, of its item, and of the reply
});

it("without a blob store bytes stay in their parts", async () => {
  const { model, requests } = recorded([say("Read.")]);
  await using session = await defineAgent({ model }).open();

  await session.send(["read", fileOf(large)]).result;

  expect(bytesIn(session.transcript)).toEqual([large]);
  expect(bytesIn(requests[0]!.transcript)).toEqual([large]);
});

it("the parts of a transcript that a session begins with become blobs as well", async () => {
  const blobs = memoryBlobs();
  const { model, requests } = recorded([say("Read.")], [say("Again.")]);
  const agent = defineAgent({ model });
  await using first = await agent.open();
  await first.send(["read", fileOf(large)]).result;

  await using session = await agent.open({ transcript: first.transcript, blobs });
  await session.send("again").result;

  expect(blobsIn(session.transcript)).toHaveLength(1);
  expect(bytesIn(requests[1]!.transcript)).toEqual([large]);
});

it("a blob that is gone becomes a text, and the session goes on", async () => {
  const [store, blobs] = [memorySessionStore(), memoryBlobs()];
  const { model, requests } = recorded([say("Read.")], [say("Gone.")]);
  await using session = await defineAgent({ model }).open({ id: "talk", store, blobs });
  await session.send(["read", fileOf(large, "plan.pdf")]).result;
  await blobs.remove(await placeOf(store, "talk"));

  const { outcome } = await session.send("and now?").result;

  expect(outcome).toBe("completed");
  expect(bytesIn(requests[1]!.transcript)).toEqual([]);
  const text =
    '[file "plan.pdf", application/pdf: left out, because its bytes are not kept any more]';
  expect(JSON.stringify(requests[1]!.transcript)).toContain(JSON.stringify(text).slice(1, -1));
});

it("a reply is stored with its bytes while the blob store fails", async () => {
  const blobs: BlobStore = { ...memoryBlobs(), put: () => Promise.reject(new Error("full")) };
  const { model } = recorded([draw()]);
  await using session = await defineAgent({ model }).open({ blobs });

  const { outcome } = await session.send("draw").result;

  expect(outcome).toBe("completed");
  expect(bytesIn(session.transcript)).toEqual([drawn]);
});

it("an input whose blob can't be stored is refused, and its key is free", async () => {
  const kept = memoryBlobs();
  const put = vi.fn(kept.put).mockRejectedValueOnce(new Error("full"));
  const { model } = recorded([say("Read.")]);
  await using session = await defineAgent({ model }).open({ blobs: { ...kept, put } });
  const content = ["read", fileOf(large)];

  const refused = await session.send(content, { key: "one" }).accepted;
  const repeated = await session.send(content, { key: "one" }).accepted;
  const replayed = await session.send(content, { key: "one" }).accepted;

  expect(refused.accepted).toBe(false);
  expect([repeated.accepted, replayed.accepted]).toEqual([true, true]);
});

it("a blob store that fails for a moment is asked again", async () => {
  const kept = memoryBlobs();
  const find = vi.fn(kept.find).mockRejectedValueOnce(new Error("away"));
  const { model, requests } = recorded([say("Read.")]);
  await using session = await defineAgent({ model }).open({ blobs: { ...kept, find } });

  await session.send(["read", fileOf(large)]).result;

  expect(bytesIn(requests[0]!.transcript)).toEqual([large]);
});

it("a fork keeps its blobs when the session that it came from is removed", async () => {
  const [store, blobs] = [memorySessionStore(), memoryBlobs()];
  const { model, requests } = recorded([say("Read.")], [say("Again.")]);
  const agent = defineAgent({ model });
  const session = await agent.open({ id: "talk", store, blobs });
  await session.send(["read", fileOf(large)]).result;
  await using branch = await session.fork(session.transcript.at(-1)!.id, "branch");
  await session.close();

  const place = await placeOf(store, "talk");
  await agent.remove("talk", { store, blobs });
  await branch.send("again").result;

  expect(await blobs.total(place)).toBe(0);
  expect(bytesIn(requests[1]!.transcript)).toEqual([large]);
});

it("a sub-agent has a place of its own, which goes with its parent's session", async () => {
  const [store, kept] = [memorySessionStore(), memoryBlobs()];
  const put = vi.fn(kept.put);
  const blobs = { ...kept, put };
  const helper = defineAgent({ model: scriptedModel([[draw()]]) });
  const tool = helper.asTool({ name: "artist", description: "Draws" });
  const model = scriptedModel([[call("artist", { prompt: "draw" })], [say("Done.")]]);
  const agent = defineAgent({ model, tools: [tool] });
  const session = await agent.open({ id: "talk", store, blobs });
  await session.send("draw").result;
  await session.close();
  const [place] = put.mock.calls[0]!;
  const own = await placeOf(store, "talk");
  expect(place.uid).not.toBe(own.uid);
  expect(await blobs.total(place)).toBe(drawn.length);

  await agent.remove("talk", { store, blobs });

  expect(await blobs.total(place)).toBe(0);
});

it("a sweep removes what no fact names: an upload that was never sent", async () => {
  const [store, blobs] = [memorySessionStore(), memoryBlobs()];
  const { model } = recorded([draw()]);
  await using session = await defineAgent({ model }).open({ id: "talk", store, blobs });
  await session.send(["read", fileOf(large)]).result;
  const place = await placeOf(store, "talk");
  await blobs.put(place, new Uint8Array(50_000), { mediaType: "image/png" });
  const gone = { uid: sessionUid("gone") };
  await blobs.put(gone, new Uint8Array(10), { mediaType: "image/png" });
  await new Promise((resolve) => setTimeout(resolve, 20));

  expect(await sweepBlobs({ blobs, storeOf: () => store })).toEqual({ removed: 0, bytes: 0 });
  const swept = await sweepBlobs({ blobs, storeOf: () => store, ageMs: 0 });

  expect(swept).toEqual({ removed: 2, bytes: 50_010 });
  expect(await blobs.total(place)).toBe(large.length + drawn.length);
});
