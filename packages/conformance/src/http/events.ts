import { setTimeout as sleep } from "node:timers/promises";
import { encodeCursor } from "@millrace/core/wire";
import { cursorOf } from "@millrace/core/reading";
import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { slowText } from "./model.ts";
import { advance, textsOf } from "./reader.ts";
import type { StreamMessage } from "./reader.ts";
import { eventually } from "./steps.ts";

const httpCase = casesOf("events");

type Sent = NonNullable<HttpBody["messages"]>[number];

const isRunEnd = ({ type }: HttpBody): boolean => type === "run_finished";
const isStreamEnd = ({ type }: HttpBody): boolean => type === "stream_ended";

/** One session's events as a stream. */
export const eventCases: readonly HttpCase[] = [
  httpCase(38, "a viewer without a cursor is sent a snapshot first", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "say hello");
    using viewer = await ann.watch(id);
    const { message, id: cursor } = await viewer.until(() => true, "a message");

    assertEqual(viewer.status, 200, "it is a stream");
    assertEqual(viewer.headers["cache-control"], "no-store, no-transform", "no proxy keeps it");
    assertEqual(viewer.headers["x-accel-buffering"], "no", "no proxy holds it back");
    assertEqual([message.v, message.type], [1, "snapshot"], "it begins with a snapshot");
    assert(cursor !== undefined, "which has a cursor");
    assert(viewer.retries.length > 0 && viewer.comments.length > 0, "retry and head come first");
    assert(viewer.raw().startsWith("retry: "), `the first bytes are ${viewer.raw().slice(0, 30)}`);
    assertEqual(textsOf(viewer.state()).at(-1), "hello", "it shows what was said");
  }),
  httpCase(
    38,
    "a snapshot stays within the budget and names what it left out",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      for (let at = 0; at < 6; at += 1) await ann.ran(id, "big 8000");
      const path = `/v1/sessions/${id}/snapshot`;
      const { body, headers, bytes } = await ann.expect(200, "GET", `${path}?budget=16384`);

      assert(bytes.length < 24_000, `it has ${bytes.length} bytes`);
      assert((body.snapshot?.earlier?.count ?? 0) > 0, "it names the items that it left out");
      assert(headers["etag"] !== undefined, "it has an ETag");
      for (const budget of ["1", "16383", "4194305", "x", "-1", "1e5"])
        await ann.refused(400, "invalid_request", "GET", `${path}?budget=${budget}`);
    },
  ),
  httpCase(
    40,
    "no cursor is an error: each is answered by a tail or a snapshot",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      await ann.ran(id, "say hello");
      const other = await ann.session();
      await ann.ran(other, "say other");
      const foreign = await ann.expect(200, "GET", `/v1/sessions/${other}/snapshot`);
      const own = await ann.expect(200, "GET", `/v1/sessions/${id}/snapshot`);
      const future = (own.body.cursor ?? "").replace(/\.[0-9a-z]+$/, ".zzzz");
      const wrong = [
        "garbage",
        "-1",
        "1..",
        "1.x.y",
        "' OR 1=1 --",
        future,
        foreign.body.cursor ?? "",
        "x".repeat(4_000),
      ];
      for (const cursor of wrong) {
        using viewer = await ann.watch(id, "", { "last-event-id": cursor });
        const { message } = await viewer.until(() => true, `an answer to ${cursor.slice(0, 40)}`);
        assertEqual(message.type, "snapshot", `${cursor.slice(0, 40)} gets a snapshot`);
        assertEqual(textsOf(viewer.state()).at(-1), "hello", "of this session");
      }
      using broken = await ann.watch(id, `&cursor=${encodeURIComponent("1.a\r\ndata: x\n\n")}`);
      const { message } = await broken.until(() => true, "an answer to line ends");
      assertEqual(message.type, "snapshot", "line ends are no frames");
    },
  ),
  httpCase(40, "a header beyond the limit is refused", async ({ person, nobody, target }) => {
    if (target.protocol === "h2") return; // its library refuses such a header before it is sent
    const ann = person();
    const id = await ann.session();
    const headers = { ...target.as(ann.who), "last-event-id": "x".repeat(100_000) };
    const answer = await nobody()
      .open(`/v1/sessions/${id}/events`, { headers })
      .then(({ status }) => status)
      .catch(() => 431);
    assertEqual(answer, 431, "it is refused, not looped");
  }),
  httpCase(41, "the header's cursor wins over the query's", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const old = await ann.expect(200, "GET", `/v1/sessions/${id}/snapshot`);
    await ann.ran(id, "say one");
    const now = await ann.expect(200, "GET", `/v1/sessions/${id}/snapshot`);
    await ann.ran(id, "say two");
    const query = `&cursor=${old.body.cursor}`;
    using viewer = await ann.watch(id, query, { "last-event-id": now.body.cursor ?? "" });
    const { message } = await viewer.until(({ n }) => n !== undefined, "the first fact");
    assertEqual(message.n, (now.body.snapshot?.head ?? 0) + 1, "it goes on after the header's");
  }),
  httpCase(
    42,
    "a silent stream has heartbeats with the head and without an id",
    async ({ person, open }) => {
      const server = await open({ streams: { heartbeatMs: 1_000 } });
      const ann = server.for(person());
      const id = await ann.session();
      using viewer = await ann.watch(id);
      await viewer.until(() => true, "the snapshot");
      const before = viewer.comments.length;
      const beats = await eventually(async () => {
        const since = viewer.comments.slice(before);
        return since.length < 2 ? undefined : since;
      }, "two heartbeats come");
      assert(
        beats.every((beat) => beat.trim() === "0"),
        `they have the head: ${beats.join("|")}`,
      );
      assertEqual(viewer.messages.length, 1, "they are no messages");
    },
    "servers",
  ),
  httpCase(43, "each viewer is told when to come back, and not all at once", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const viewers = await Promise.all(Array.from({ length: 12 }, () => ann.watch(id)));
    for (const viewer of viewers) await viewer.until(() => true, "a snapshot");
    const retries = viewers.map(({ retries: [first = -1] }) => first);
    for (const viewer of viewers) viewer.close();

    assert(
      retries.every((ms) => ms >= 0 && ms <= 30_000),
      `they are ${retries.join(", ")}`,
    );
    assert(new Set(retries).size > 3, `they differ: ${retries.join(", ")}`);
  }),
  httpCase(
    44,
    "a drain ends streams by a message, and another server goes on without loss",
    async ({ person, open }) => {
      const [first, second] = [await open({}), await open({})];
      const ann = person();
      const id = await first.for(ann).session();
      const { runId } = await first.for(ann).post(id, "slow 40 20");
      using before = await first.for(ann).follow(id);
      await before.until(
        ({ type }) => ["text", "lane", "begin_part", "batch"].includes(type ?? ""),
        "the run writes",
      );
      const drained = first.served.drain(2_000);
      const end = await before.until(isStreamEnd, "the stream ends");
      await before.ended();
      using after = await second.for(ann).follow(id, before);
      await drained;
      await after.until(isRunEnd, "the run ends elsewhere");

      assertEqual([end.message.reason, end.id], ["drain", undefined], "the end names its reason");
      assert((before.retries.at(-1) ?? 9e9) <= 2_000, "and when to come back");
      const run = await second.for(ann).finished(id, runId);
      assertEqual(run.outcome, "completed", "the run completes");
      assertEqual(run.text, slowText(40), "its text is whole");
      assertEqual(textsOf(after.state()).at(-1), slowText(40), "and shown whole");
      const { body } = await second.for(ann).expect(200, "GET", `/v1/sessions/${id}/items`);
      const replies = body.items?.filter(({ item }) => item?.author === "model");
      assertEqual(replies?.length, 1, "and written once");
    },
    "servers",
  ),
  httpCase(
    45,
    "a stream opened during a drain is a 200 that ends at once",
    async ({ person, open }) => {
      const server = await open({});
      const ann = server.for(person());
      const id = await ann.session();
      const drained = server.served.drain(3_000);
      await sleep(100);
      const { status } = await ann.call("GET", "/v1/ready");
      using late = await ann.watch(id);
      const { message } = await late.until(isStreamEnd, "the stream ends");
      const read = await ann.call("GET", `/v1/sessions/${id}`);
      await late.ended();
      await drained;

      assertEqual(status, 503, "it is not ready any more");
      assertEqual([late.status, message.reason], [200, "drain"], "the stream names its reason");
      assertEqual(read.status, 200, "other requests are served");
    },
    "servers",
  ),
  httpCase(
    46,
    "a stream is recycled after its time, and its reader resumes",
    async ({ person, open }) => {
      const server = await open({ streams: { maxMs: 1_000 } });
      const ann = server.for(person());
      const id = await ann.session();
      using viewer = await ann.watch(id);
      const { message, id: none } = await viewer.until(isStreamEnd, "the stream ends");
      await viewer.ended();
      await ann.ran(id, "say more");
      using next = await ann.watch(id, "", { "last-event-id": viewer.cursor() });
      const first = await next.until(({ n }) => n !== undefined, "what came meanwhile");

      assertEqual([message.reason, none], ["recycled", undefined], "the end names its reason");
      assertEqual(first.message.n, 1, "nothing is lost");
    },
    "servers",
  ),
  httpCase(
    52,
    "a removed session is 204 to its viewer and 404 to anyone else",
    async ({ person }) => {
      const [ann, bob] = [person("ann"), person("bob")];
      const id = await ann.session();
      await ann.ran(id, "say bye");
      using viewer = await ann.watch(id);
      await viewer.until(() => true, "the snapshot");
      await ann.expect(204, "DELETE", `/v1/sessions/${id}`);
      const { message } = await viewer.until(isStreamEnd, "the stream ends");

      assertEqual(message.reason, "removed", "the end names its reason");
      const events = `/v1/sessions/${id}/events`;
      const headers = { accept: "text/event-stream", "last-event-id": viewer.cursor() };
      await ann.expect(204, "GET", events, { headers });
      await ann.refused(404, "not_found", "GET", events, {
        headers: { accept: "text/event-stream" },
      });
      await bob.refused(404, "not_found", "GET", events, { headers });
    },
  ),
  httpCase(53, "the JSON form gives the messages of the stream", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    using viewer = await ann.watch(id);
    await viewer.until(() => true, "the snapshot");
    const first = await ann.expect(200, "GET", `/v1/sessions/${id}/events?form=whole`, {
      headers: { accept: "application/json" },
    });
    let { cursor = "" } = first.body;
    const [snapshot] = first.body.messages ?? [];
    assertEqual(snapshot?.message.type, "snapshot", "it begins with a snapshot");
    const asSent = ({ id: at, message }: Sent): StreamMessage => ({
      id: at,
      message,
      line: JSON.stringify(message),
    });
    assert(snapshot !== undefined, "there is a message");
    let state = advance(undefined, asSent(snapshot));
    const { runId } = await ann.post(id, "slow 10 20");
    for (let over = false; !over;) {
      const path = `/v1/sessions/${id}/events?form=whole&cursor=${encodeURIComponent(cursor)}`;
      const headers = { accept: "application/json", prefer: "wait=2" };
      const { body } = await ann.expect(200, "GET", path, { headers });
      for (const sent of body.messages ?? []) {
        state = advance(state, asSent(sent));
        over ||= isRunEnd(sent.message);
      }
      cursor = body.cursor ?? "";
    }
    await viewer.until(isRunEnd, "the stream has the end, too");

    await ann.finished(id, runId);
    assert(state !== undefined, "there is a state");
    assertEqual(textsOf(state), textsOf(viewer.state()), "both show the same items");
    assertEqual(encodeCursor(cursorOf(state)), viewer.cursor(), "at the same position");
    const idle = performance.now();
    const path = `/v1/sessions/${id}/events?form=whole&cursor=${encodeURIComponent(cursor)}`;
    const headers = { accept: "application/json", prefer: "wait=1" };
    const empty = await ann.expect(200, "GET", path, { headers });
    assertEqual(empty.body.messages, [], "with nothing new it is empty");
    assert(performance.now() - idle > 800, "after the wait");
  }),
  httpCase(
    53,
    "a viewer in step shows what a viewer of whole messages shows",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      using whole = await ann.watch(id);
      using steps = await ann.follow(id);
      await steps.until(() => true, "the snapshot");
      await ann.ran(id, "slow 20 10");
      await ann.ran(id, 'call note {"text":"noted"}');
      const { runId } = await ann.post(id, "big 3000");
      const isLast = ({ type, runId: on }: HttpBody): boolean =>
        type === "run_finished" && on === runId;
      await whole.until(isLast, "the last run ends");
      await ann.finished(id, runId);
      while (steps.state()?.head !== whole.state()?.head)
        await steps.until(() => true, "the steps come", steps.messages.length);

      assertEqual(textsOf(steps.state()), textsOf(whole.state()), "both show the same");
      assertEqual(steps.cursor(), whole.cursor(), "at the same place");
      const bytes = (lines: readonly StreamMessage[]): number =>
        lines.reduce((sum, { line }) => sum + line.length, 0);
      assert(bytes(steps.messages) * 2 < bytes(whole.messages), "and steps are short");
      assert(
        steps.messages.slice(1).every(({ message }) => message.v === undefined),
        "in step, nothing is whole",
      );
    },
  ),
  httpCase(57, "content can't forge a frame", async ({ person }) => {
    const ann = person();
    const forged =
      '\n\nid: 1.x.9\nevent: x\ndata: {"v":1,"type":"stream_ended","reason":"removed"}\n\n';
    const id = await ann.session({ title: `title${forged}` });
    using viewer = await ann.watch(id);
    await ann.ran(id, `say hello${forged}\r\rdata: y\u2028\u0085`);
    await ann.ran(id, `call note ${JSON.stringify({ text: forged })}`);
    await ann.ran(id, `call broken ${JSON.stringify({ message: forged })}`);
    await ann.ran(id, `fail because${forged}`);
    const { runId } = await ann.post(id, `call ${JSON.stringify(forged).slice(1, -1)} {}`);
    await ann.finished(id, runId);
    await viewer.until(
      ({ type, runId: on }) => type === "run_finished" && on === runId,
      "the last run ends",
    );

    const cursors = viewer.messages.filter(({ id: cursor }) => cursor !== undefined);
    assertEqual(cursors.length, viewer.messages.length, "every message is the server's own");
    assert(
      !viewer.messages.some(({ message }) => isStreamEnd(message)),
      "no forged end came through",
    );
    assertEqual(
      textsOf(viewer.state())[1],
      `hello${forged}\r\rdata: y\u2028\u0085`,
      "the text arrives to the letter",
    );
  }),
  httpCase(58, "a stream is not compressed, whatever is asked for", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    using viewer = await ann.watch(id, "", { "accept-encoding": "gzip, br, deflate" });
    await viewer.until(() => true, "the snapshot");
    assertEqual(viewer.headers["content-encoding"], undefined, "it is plain");
  }),
];
