import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import type { Caller } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { httpRoutes } from "./matrix.ts";

const httpCase = casesOf("safety");

/** Takes a ticket. */
export async function takeTicket(caller: Caller, body: object): Promise<HttpBody> {
  const { body: made } = await caller.expect(201, "POST", "/v1/tickets", { body });
  return made;
}

const events = (id: string, { ticket = "" }: HttpBody): string =>
  `/v1/sessions/${id}/events?ticket=${encodeURIComponent(ticket)}`;

const asStream = { headers: { accept: "text/event-stream" } };

/** Asserts that a ticket for events opens nothing now. */
export async function refusesTicket(
  caller: Caller,
  id: string,
  ticket: HttpBody,
  why: string,
): Promise<void> {
  const { status, body } = await caller.call("GET", events(id, ticket), asStream);
  assertEqual([status, body.code], [401, "unauthenticated"], why);
}

/** With another letter at this place. Not the last one: it may differ in bits that carry nothing. */
function changedAt(ticket: string, at: number): string {
  const letter = ticket.at(at) === "A" ? "B" : "A";
  return `${ticket.slice(0, at)}${letter}${ticket.slice(at + 1)}`;
}

/** Tickets: credentials in an address, for what sends no headers. */
export const ticketCases: readonly HttpCase[] = [
  httpCase(76, "a ticket opens one stream once", async ({ person, nobody, target }) => {
    const ann = person();
    const [id, other] = [await ann.session(), await ann.session()];
    const take = (): Promise<HttpBody> => takeTicket(ann, { sessionId: id, use: "events" });
    const first = await take();
    const life = (first.expiresAt ?? 0) - Date.now();
    assert(life > 25_000 && life <= 31_000, `it is good for 30 s, not ${life} ms`);
    using viewer = await nobody().open(events(id, first));
    await viewer.until(() => true, "the snapshot");

    assertEqual(viewer.status, 200, "it opens the stream");
    await refusesTicket(nobody(), id, first, "a second use");
    await refusesTicket(nobody(), other, await take(), "another session");
    const { ticket = "" } = await take();
    await refusesTicket(nobody(), id, { ticket: changedAt(ticket, -9) }, "a changed one");
    await refusesTicket(nobody(), id, { ticket: "" }, "an empty one");
    const unused = nobody().open(events(id, { ticket }));
    using second = await unused;
    assertEqual(second.status, 200, "what was refused elsewhere is still good");
    assert(!target.logged().includes(ticket), "it is in no log");
  }),
  httpCase(
    76,
    "of many who use a ticket at once, one gets the stream",
    async ({ person, nobody }) => {
      const ann = person();
      const id = await ann.session();
      const ticket = await takeTicket(ann, { sessionId: id, use: "events" });
      const opened = await Promise.all(
        Array.from({ length: 10 }, () => nobody().open(events(id, ticket))),
      );
      const statuses = opened.map(({ status }) => status).toSorted((a, b) => a - b);
      for (const viewer of opened) viewer.close();
      assertEqual(statuses, [200, ...Array.from({ length: 9 }, () => 401)], "the others do not");
    },
  ),
  httpCase(
    76,
    "a ticket is good until its time is over",
    async ({ person, nobody, open }) => {
      const server = await open({ limits: { ticketMs: 1_000 } });
      const ann = server.for(person());
      const stranger = server.for(nobody());
      const id = await ann.session();
      const take = (): Promise<HttpBody> => takeTicket(ann, { sessionId: id, use: "events" });
      const [used, late] = [await take(), await take()];
      using viewer = await stranger.open(events(id, used));
      await viewer.until(() => true, "the snapshot");
      await sleep(Math.max(0, (late.expiresAt ?? 0) - Date.now()) + 20);

      await refusesTicket(stranger, id, late, "it was not used in time");
      await ann.ran(id, "say later");
      await viewer.until(({ type }) => type === "run_finished", "an open stream goes on");
    },
    "servers",
  ),
  httpCase(76, "a ticket opens no other route", async ({ person, nobody, target }) => {
    const ann = person();
    const id = await ann.session();
    const { ticket = "" } = await takeTicket(ann, { sessionId: id, use: "events" });
    const { origin } = new URL(target.url);
    for (const row of httpRoutes) {
      const { path = row.path, ...options } = row.request?.(id) ?? {};
      if (row.path.endsWith("/events")) continue;
      const filled = path
        .replace("{id}", id)
        .replace("{hash}", `sha256-${"0".repeat(64)}`)
        .replaceAll(/[{}]/g, "");
      const asked = `${filled}${filled.includes("?") ? "&" : "?"}ticket=${encodeURIComponent(ticket)}`;
      const { status } = await nobody().call(row.method, asked, { ...options, as: { origin } });
      assert([400, 401].includes(status), `${row.method} ${row.path} answers ${status}`);
    }
    using viewer = await nobody().open(events(id, { ticket }));
    assertEqual(viewer.status, 200, "it is still good for its own");
  }),
  httpCase(76, "a ticket is for a session that one may read", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const id = await ann.session();
    const ask = { body: { sessionId: id, use: "events" } };
    await bob.refused(404, "not_found", "POST", "/v1/tickets", ask);
    for (const body of [
      { sessionId: id },
      { sessionId: id, use: "inputs" },
      { sessionId: id, use: "blob" },
      { sessionId: id, use: "events", hash: `sha256-${"0".repeat(64)}` },
    ])
      await ann.refused(400, "invalid_request", "POST", "/v1/tickets", { body });
  }),
  httpCase(
    76,
    "local mode has no tickets, and takes none",
    async ({ person, nobody, open }) => {
      const server = await open({ local: true });
      const ann = server.for(person());
      const id = await ann.session();
      const asked = { body: { sessionId: id, use: "events" } };
      await ann.refused(403, "forbidden", "POST", "/v1/tickets", asked);
      await refusesTicket(server.for(nobody()), id, { ticket: "x.y" }, "any ticket");
    },
    "servers",
  ),
  httpCase(76, "a ticket for a blob reads that blob from any page", async ({ person, nobody }) => {
    const ann = person();
    const id = await ann.session();
    const upload = (bytes: string): Promise<string> =>
      ann
        .expect(201, "POST", `/v1/sessions/${id}/blobs`, {
          bytes,
          headers: { "content-type": "image/png" },
        })
        .then(({ body }) => body.hash ?? "");
    const [hash, other] = [await upload("a picture"), await upload("another")];
    const { ticket = "" } = await takeTicket(ann, { sessionId: id, use: "blob", hash });
    const at = (of: string): string =>
      `/v1/sessions/${id}/blobs/${of}?ticket=${encodeURIComponent(ticket)}`;
    for (let times = 0; times < 2; times += 1) {
      const read = await nobody().expect(200, "GET", at(hash));
      assertEqual(read.text, "a picture", "it is read, more than once");
      assertEqual(read.headers["cross-origin-resource-policy"], "cross-origin", "from any page");
    }
    const part = await nobody().expect(206, "GET", at(hash), { headers: { range: "bytes=2-4" } });
    assertEqual(part.text, "pic", "also a range of it");
    await nobody().refused(401, "unauthenticated", "GET", at(other));
    await refusesTicket(nobody(), id, { ticket }, "events are not a blob");
  }),
];
