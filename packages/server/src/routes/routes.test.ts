import { describe, expect, it } from "vitest";
import { defineAgent } from "@millrace/agent";
import { newKey, Served } from "../testing/served.ts";

const prompt = { kind: "prompt", text: "go" };

/** The fields of answers that these tests read. */
interface Shown {
  readonly id: string;
  readonly code: string;
  readonly status: number;
  readonly sessions: readonly { readonly id: string }[];
  readonly items: readonly { readonly item: { readonly id: string; readonly author: string } }[];
  readonly messages: readonly unknown[];
  readonly snapshot: { readonly head: number; readonly items: readonly unknown[] };
  readonly cursor: string;
  readonly next: string;
  readonly hash: string;
  readonly size: number;
}

async function bodyOf(response: Response): Promise<Shown> {
  return (await response.json()) as Shown; // each test reads what its answer has
}

describe("sessions", () => {
  it("are made once by their key, with a first input in the same step", async () => {
    await using served = new Served();
    const key = newKey();
    const body = { title: "T", metadata: { a: 1 }, input: prompt };
    const first = await served.request("/v1/sessions", { body, key });
    const again = await served.request("/v1/sessions", { body, key });

    expect(first.status).toBe(201);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const [one, two] = [await bodyOf(first), await bodyOf(again)];
    expect(two).toMatchObject({ id: one.id, inputId: `input_${key}`, runId: `run_${key}` });
    expect(one).toMatchObject({ title: "T", metadata: { a: 1 }, owner: "ann" });
    const other = await served.request("/v1/sessions", { body: { title: "U" }, key });
    expect([other.status, (await bodyOf(other)).code]).toEqual([422, "key_reused"]);
    const run = await served.request(`/v1/sessions/${one.id}/runs/run_${key}`, {
      headers: { prefer: "wait=10" },
    });
    expect(await bodyOf(run)).toMatchObject({ outcome: "completed", text: "hello there" });
  });

  it("of a taken name are refused, own and foreign alike", async () => {
    await using served = new Served();
    await served.create("s");
    for (const user of ["ann", "bob"]) {
      const taken = await served.request("/v1/sessions", {
        body: { id: "s" },
        key: newKey(),
        user,
      });
      expect([taken.status, (await bodyOf(taken)).code]).toEqual([409, "session_exists"]);
    }
  });

  it("are read with a tag, changed by a merge patch, listed and removed", async () => {
    await using served = new Served();
    await served.create("s", { metadata: { a: 1, b: 2 } });
    const read = await served.request("/v1/sessions/s");
    const etag = read.headers.get("etag") ?? "";
    const same = await served.request("/v1/sessions/s", { headers: { "if-none-match": etag } });
    expect(same.status).toBe(304);
    const change = { method: "PATCH", body: { title: "N", metadata: { a: null, c: 3 } } };
    const patched = await served.request("/v1/sessions/s", {
      ...change,
      headers: { "if-match": etag },
    });
    expect(await bodyOf(patched)).toMatchObject({ title: "N", metadata: { b: 2, c: 3 } });
    const late = await served.request("/v1/sessions/s", {
      ...change,
      headers: { "if-match": etag },
    });
    expect(late.status).toBe(412);
    const list = await bodyOf(await served.request("/v1/sessions"));
    expect(list.sessions.map(({ id }) => id)).toEqual(["s"]);
    expect((await served.request("/v1/sessions/s", { method: "DELETE" })).status).toBe(204);
    expect((await served.request("/v1/sessions/s", { method: "DELETE" })).status).toBe(404);
  });
});

describe("an input", () => {
  it("is stored once by its key, and its run is waited for", async () => {
    await using served = new Served();
    await served.create("s");
    const key = newKey();
    const first = await served.request("/v1/sessions/s/inputs", { body: prompt, key });
    expect([first.status, await bodyOf(first)]).toEqual([
      202,
      { inputId: `input_${key}`, runId: `run_${key}`, n: 1 },
    ]);
    const waits = { body: prompt, key, headers: { prefer: "wait=10" } };
    const again = await served.request("/v1/sessions/s/inputs", waits);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(await bodyOf(again)).toMatchObject({ status: "finished", text: "hello there" });
    const other = await served.request("/v1/sessions/s/inputs", {
      body: { ...prompt, text: "x" },
      key,
    });
    expect([other.status, (await bodyOf(other)).code]).toEqual([422, "key_reused"]);
  });

  it("is answered with the session's stream up to the end of its run", async () => {
    await using served = new Served();
    await served.create("s");
    const answer = await served.request("/v1/sessions/s/inputs", {
      body: prompt,
      key: newKey(),
      headers: { accept: "text/event-stream" },
    });
    const text = await answer.text();
    expect(text).toContain("hello there");
    expect(text).toMatch(/"reason":"finished"[^\n]*\n\n$/);
  });

  it("begins a run that goes on when the request-bound reader leaves, with an agent of its own code", async () => {
    const release = Promise.withResolvers<void>();
    const agent = defineAgent({
      respond: async function* () {
        yield { op: "begin_part", partId: "p1", kind: "text" } as const;
        yield { op: "append_text", partId: "p1", chunk: "one " } as const;
        await release.promise;
        yield { op: "append_text", partId: "p1", chunk: "two" } as const;
      },
    });
    await using served = new Served(agent);
    await served.create("s");
    const key = newKey();
    const answer = await served.request("/v1/sessions/s/inputs", {
      body: prompt,
      key,
      headers: { accept: "text/event-stream" },
    });
    await answer.body?.cancel();
    release.resolve();
    const run = await served.request(`/v1/sessions/s/runs/run_${key}`, {
      headers: { prefer: "wait=10" },
    });
    expect(await bodyOf(run)).toMatchObject({ outcome: "completed", text: "one two" });
  });

  it("is refused while as many wait as may, and a repeat is not", async () => {
    await using served = new Served(undefined, {
      driver: false,
      limits: { inputsPerSession: 2 },
    });
    await served.create("s");
    const keys = [newKey(), newKey(), newKey()];
    const statuses: number[] = [];
    for (const key of [...keys, keys[0] ?? ""]) {
      statuses.push((await served.request("/v1/sessions/s/inputs", { body: prompt, key })).status);
    }
    expect(statuses).toEqual([202, 202, 429, 202]);
    const back = await served.request(`/v1/sessions/s/inputs/input_${keys[0]}`, {
      method: "DELETE",
    });
    expect(back.status).toBe(204);
  });
});

describe("a stop", () => {
  it("takes back a prompt that waits, and stops nothing in an idle session", async () => {
    await using served = new Served(undefined, { driver: false });
    await served.create("s");
    const idle = await served.request("/v1/sessions/s/abort", { body: {} });
    expect([idle.status, await bodyOf(idle)]).toEqual([200, {}]);
    const key = newKey();
    await served.request("/v1/sessions/s/inputs", { body: prompt, key });
    const stop = await served.request("/v1/sessions/s/abort", { body: { runId: `run_${key}` } });
    expect([stop.status, await bodyOf(stop)]).toEqual([202, { runId: `run_${key}` }]);
    const run = await bodyOf(await served.request(`/v1/sessions/s/runs/run_${key}`));
    expect(run).toMatchObject({ status: "finished", outcome: "aborted" });
  });
});

describe("what a session shows", () => {
  it("is read as snapshot, events in JSON, items, exports and a fork", async () => {
    await using served = new Served();
    await served.create("s");
    const body = { kind: "prompt", text: "<b>## go" };
    const ran = await served.request("/v1/sessions/s/inputs", {
      body,
      key: newKey(),
      headers: { prefer: "wait=10" },
    });
    const run = await bodyOf(ran);
    const asJson = (path: string): Promise<Response> =>
      served.request(path, { headers: { accept: "application/json" } });
    const { cursor, snapshot } = await bodyOf(await asJson("/v1/sessions/s/snapshot"));
    expect(snapshot.items).toHaveLength(2);
    const events = await bodyOf(await asJson(`/v1/sessions/s/events?cursor=${cursor}`));
    expect(events.messages).toEqual([]);
    const items = await bodyOf(await served.request("/v1/sessions/s/items?limit=1"));
    expect(items.items[0]?.item.author).toBe("model");
    const next = encodeURIComponent(items.next);
    const before = await bodyOf(await served.request(`/v1/sessions/s/items?before=${next}`));
    expect(before.items.map(({ item }) => item.author)).toEqual(["user"]);
    const page = await (await served.request("/v1/sessions/s/export?format=html")).text();
    expect(page).toContain("&lt;b&gt;## go");
    const text = await (await served.request("/v1/sessions/s/export?format=markdown")).text();
    expect(text).toContain("> &lt;b>## go");
    const lines = await (await served.request("/v1/sessions/s/export?format=jsonl")).text();
    expect(lines.trim().split("\n")).toHaveLength(snapshot.head);
    const key = newKey();
    const fork = { body: { itemId: run.items[0]?.item.id }, key };
    const forked = await served.request("/v1/sessions/s/forks", fork);
    expect(forked.status).toBe(201);
    const again = await served.request("/v1/sessions/s/forks", fork);
    expect((await bodyOf(again)).id).toBe((await bodyOf(forked)).id);
    const none = await served.request("/v1/sessions/s/forks", {
      body: { itemId: "x" },
      key: newKey(),
    });
    expect((await bodyOf(none)).code).toBe("unknown_item");
  });

  it("has blobs that are inert, read by ranges, and named in inputs", async () => {
    await using served = new Served();
    await served.create("s");
    const up = await served.millrace.fetch(
      new Request("http://localhost/v1/sessions/s/blobs", {
        method: "POST",
        headers: { authorization: "Bearer ann", "content-type": "text/html" },
        body: "0123456789",
      }),
    );
    expect(up.status).toBe(201);
    const { hash, size } = await bodyOf(up);
    const range = await served.request(`/v1/sessions/s/blobs/${hash}`, {
      headers: { range: "bytes=-3" },
    });
    expect([range.status, await range.text()]).toEqual([206, "789"]);
    expect(range.headers.get("content-disposition")).toBe("attachment");
    const beyond = await served.request(`/v1/sessions/s/blobs/${hash}`, {
      headers: { range: "bytes=99-" },
    });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    const file = { kind: "file", name: "a", mediaType: "text/html" };
    const post = (blob: object): Promise<Response> =>
      served.request("/v1/sessions/s/inputs", {
        body: { kind: "prompt", parts: [{ ...file, blob }] },
        key: newKey(),
      });
    const posted = await served.request("/v1/sessions/s/inputs", {
      body: { kind: "prompt", parts: [{ ...file, blob: { hash, size } }] },
      key: newKey(),
      headers: { prefer: "wait=10" },
    });
    expect(posted.status).toBe(200);
    const { items } = await bodyOf(await served.request("/v1/sessions/s/items"));
    const body = { itemId: items[0]?.item.id, id: "fork" };
    await served.request("/v1/sessions/s/forks", { body, key: newKey() });
    await served.request("/v1/sessions/s", { method: "DELETE" });
    const copied = await served.request(`/v1/sessions/fork/blobs/${hash}`);
    expect([copied.status, await copied.text()]).toEqual([200, "0123456789"]);
    await served.create("s");
    expect((await bodyOf(await post({ hash: hash.replace(/.$/, "x"), size }))).status).toBe(400);
    expect((await post({ hash: `sha256-${"0".repeat(64)}`, size })).status).toBe(422);
  });
});
