import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import { freshKey } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";

const httpCase = casesOf("state");

const idsOf = (items: readonly HttpBody[] | undefined): readonly (string | undefined)[] =>
  (items ?? []).map(({ item }) => item?.id);

/** Snapshots, items, forks, exports and sub-agents. */
export const stateCases: readonly HttpCase[] = [
  httpCase(61, "a snapshot's cursor is where its events go on", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "say one");
    const path = `/v1/sessions/${id}/snapshot`;
    const { body, headers } = await ann.expect(200, "GET", path);
    await ann.ran(id, "say two");
    using viewer = await ann.watch(id, `&cursor=${encodeURIComponent(body.cursor ?? "")}`);
    const { message } = await viewer.until(({ n }) => n !== undefined, "a fact");

    assertEqual(message.n, (body.snapshot?.head ?? 0) + 1, "the next fact comes first");
    assertEqual(headers["cache-control"], "private, no-cache", "it may be kept and asked for");
    const now = await ann.expect(200, "GET", path);
    const match = { headers: { "if-none-match": now.headers["etag"] ?? "" } };
    await ann.expect(304, "GET", path, match);
    assert(now.headers["etag"] !== headers["etag"], "the ETag is the position");
  }),
  httpCase(62, "items come by pages, from the end or from the start", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    for (let at = 0; at < 5; at += 1) await ann.ran(id, `say ${at}`);
    const path = `/v1/sessions/${id}/items`;
    const all = await ann.expect(200, "GET", path);
    const ids = idsOf(all.body.items);

    assertEqual(ids.length, 10, "there are ten");
    const numbers = (all.body.items ?? []).map(({ n = 0 }) => n);
    assertEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
      "in the order of the session",
    );
    const before = await ann.expect(200, "GET", `${path}?before=${ids[6]}&limit=3`);
    assertEqual(idsOf(before.body.items), ids.slice(3, 6), "before: the three behind it");
    const after = await ann.expect(200, "GET", `${path}?after=${ids[6]}&limit=2`);
    assertEqual(idsOf(after.body.items), ids.slice(7, 9), "after: the two that follow");
    const match = { headers: { "if-none-match": all.headers["etag"] ?? "" } };
    await ann.expect(304, "GET", path, match);
    for (const query of ["limit=0", "limit=201", "limit=x", "limit=1&limit=2", "nonsense=1"])
      await ann.refused(400, "invalid_request", "GET", `${path}?${query}`);
  }),
  httpCase(62, "a page has at least one item, however large", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "big 1200000");
    await ann.ran(id, "say small");
    const path = `/v1/sessions/${id}/items`;
    const { body } = await ann.expect(200, "GET", path);
    assert((body.items?.length ?? 0) >= 1, "there is an item");
    const seen = new Set(idsOf(body.items));
    let { next } = body;
    while (next !== undefined) {
      const page = await ann.expect(200, "GET", `${path}?before=${encodeURIComponent(next)}`);
      assert((page.body.items?.length ?? 0) >= 1, "every page has one");
      for (const one of idsOf(page.body.items)) seen.add(one);
      ({ next } = page.body);
    }
    assertEqual(seen.size, 4, "the pages have them all");
  }),
  httpCase(63, "an export has the facts up to its head", async ({ person }) => {
    const ann = person();
    const id = await ann.session({ title: "Export <me> & co" });
    await ann.ran(id, "say <b>exported</b>");
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
    const path = `/v1/sessions/${id}/export?format=`;
    const lines = await ann.expect(200, "GET", `${path}jsonl`);
    const facts = lines.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as HttpBody);

    const numbers = facts.map(({ n }) => n).filter((n) => n !== undefined);
    assertEqual(
      numbers,
      Array.from({ length: body.head ?? 0 }, (_, at) => at + 1),
      "every fact is there",
    );
    assert(
      (lines.headers["content-disposition"] ?? "").startsWith("attachment"),
      "as an attachment",
    );
    const markdown = await ann.expect(200, "GET", `${path}markdown`);
    assert(markdown.text.includes("exported"), "markdown has the text");
    const html = await ann.expect(200, "GET", `${path}html`);
    assert(html.text.includes("&lt;b&gt;exported"), "HTML has the text, escaped");
    await ann.refused(400, "invalid_request", "GET", `${path}pdf`);
  }),
  httpCase(63, "an export while a run writes ends at its own head", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "say first");
    await ann.post(id, "slow 200 10");
    const { text } = await ann.expect(200, "GET", `/v1/sessions/${id}/export?format=jsonl`);
    const numbers = text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as HttpBody).n);
    const facts = numbers.filter((n) => n !== undefined);

    assertEqual(
      facts,
      facts.map((_, at) => at + 1),
      "it has no hole",
    );
    await ann.expect(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
  }),
  httpCase(64, "a fork has the items up to the one it names", async ({ person }) => {
    const ann = person();
    const id = await ann.session({ title: "root" });
    await ann.ran(id, "say one");
    await ann.ran(id, "say two");
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
    const itemId = body.items?.[1]?.item?.id ?? "";
    const path = `/v1/sessions/${id}/forks`;
    const key = freshKey();
    const fork = await ann.expect(201, "POST", path, { key, body: { itemId } });

    assertEqual(fork.headers["location"] !== undefined, true, "it has an address");
    const items = await ann.expect(200, "GET", `/v1/sessions/${fork.body.id}/items`);
    assertEqual(items.body.items?.length, 2, "it ends with that item");
    assertEqual((await ann.ran(fork.body.id ?? "", "say three")).text, "three", "it goes on alone");
    const again = await ann.expect(201, "POST", path, { key, body: { itemId } });
    assertEqual(again.body.id, fork.body.id, "a repeat is the same fork");
    assertEqual(again.headers["idempotency-replayed"], "true", "and is marked");
    const unknown = { key: freshKey(), body: { itemId: "item_unknown" } };
    await ann.refused(422, "unknown_item", "POST", path, unknown);
    const taken = { key: freshKey(), body: { itemId, id } };
    await ann.refused(409, "session_exists", "POST", path, taken);
  }),
  httpCase(
    69,
    "a sub-agent's session is read by its root's viewers only, and takes no inputs",
    async (context) => {
      const [ann, bob, eve] = [context.person("ann"), context.person("bob"), context.person("eve")];
      const id = await ann.session({ metadata: { grants: { bob: ["read"] } } });
      await ann.ran(id, 'call packer {"prompt":"say packed"}');
      const { body } = await ann.expect(200, "GET", `/v1/sessions?parent=${id}`);
      const [child] = body.sessions ?? [];
      const path = `/v1/sessions/${encodeURIComponent(child?.id ?? "")}`;

      assertEqual(child?.parent?.sessionId, id, "it names its parent");
      await ann.expect(200, "GET", path);
      await bob.expect(200, "GET", path);
      await eve.refused(404, "not_found", "GET", path);
      const input = { key: freshKey(), body: { kind: "prompt", text: "say x" } };
      await ann.refused(409, "read_only", "POST", `${path}/inputs`, input);
      await bob.refused(403, "forbidden", "POST", `${path}/abort`, { body: {} });
    },
  ),
];
