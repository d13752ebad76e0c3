import type { SessionState } from "@millrace/core";
import { emptyState, replay, snapshot } from "@millrace/core/reading";
import { receive } from "@millrace/core/wire";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { startMemoryServer } from "../web/kit/memory-server.ts";
import { openBrowser, openPage } from "./kit/browser.ts";

/** What a page keeps of its stream: the id and the data of each message, in order. */
type Got = readonly (readonly [id: string, data: string])[];

/** A page as anybody would write it: no library, the cookie of its origin, and nothing for reconnects. */
const page = `<!doctype html><title>talk</title><script>
  window.got = [];
  window.opened = 0;
  const source = new EventSource("/agent/v1/sessions/talk/events");
  source.onopen = () => { window.opened += 1; };
  source.onmessage = ({ lastEventId, data }) => window.got.push([lastEventId, data]);
  window.post = async (path, key, body) => {
    const headers = { "content-type": "application/json", "idempotency-key": key.padEnd(16, "x") };
    const answer = await fetch("/agent/v1" + path, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.status;
  };
</script>`;

/** The state after all messages of a page's stream. Throws if one came twice or does not fit. */
function stateAfter(got: Got): SessionState | undefined {
  let state: SessionState | undefined;
  for (const [id, data] of got) {
    const received = receive(state, data, id);
    if (received.outcome === "ended") continue; // the server says why; EventSource comes back by itself
    if (received.outcome !== "applied" && received.outcome !== "restored")
      throw new Error(`${JSON.stringify(received)} at ${id}: ${data}`);
    ({ state } = received);
  }
  return state;
}

const gotBy = (tab: Page): Promise<Got> => tab.evaluate("window.got");
const post = (tab: Page, path: string, key: string, body: object): Promise<number> =>
  tab.evaluate(`window.post(${JSON.stringify([path, key, body]).slice(1, -1)})`);

it(
  "an EventSource of a plain page shows each message once: with a cookie, after a refresh, after a restart of the server",
  { timeout: patience },
  async () => {
    const options = {
      pages: { "/": page, "/empty": "<!doctype html>" },
      reply: "word ".repeat(2_000),
    };
    await using servers = new AsyncDisposableStack();
    let server = await startMemoryServer(options);
    servers.defer(() => server[Symbol.asyncDispose]());
    const { url, store } = server;
    await using browser = await openBrowser();
    const first = await openPage(browser, { url: `${url}/empty`, user: "ann" });
    const created = await first.evaluate(
      `fetch("/agent/v1/sessions", { method: "POST", body: '{"id":"talk"}', headers: {
        "content-type": "application/json", "idempotency-key": "create-talk-0001" } }).then(({ status }) => status)`,
    );
    expect(created).toBe(201);
    const { uid, sessionId } = (await store.find("talk")) ?? never();
    const isShown = async (tab: Page, runs: number): Promise<void> => {
      const count = async (): Promise<number> =>
        (await store.read(uid)).filter(({ type }) => type === "run_finished").length;
      await until(async () => (await count()) === runs, `run ${runs} ends`, { everyMs: 50 });
      const { length: head } = await store.read(uid);
      await until(async () => stateAfter(await gotBy(tab))?.head === head, `run ${runs} is shown`);
    };

    const tab = await openPage(browser, { url: `${url}/`, user: "ann" });
    expect(await post(tab, "/sessions/talk/inputs", "prompt-1", say("one"))).toBe(202);
    await isShown(tab, 1);

    await tab.reload();
    expect(await post(tab, "/sessions/talk/inputs", "prompt-2", say("two"))).toBe(202);
    await isShown(tab, 2);
    expect(await tab.evaluate("window.opened")).toBe(1);

    await server[Symbol.asyncDispose]();
    server = await startMemoryServer({ ...options, store, port: Number(new URL(url).port) });
    await until(() => tab.evaluate("window.opened === 2"), "it is back by itself");
    expect(await post(tab, "/sessions/talk/inputs", "prompt-3", say("three"))).toBe(202);
    await isShown(tab, 3);

    const got = await gotBy(tab);
    const shown = stateAfter(got) ?? never();
    const stored = replay(emptyState(uid, sessionId), await store.read(uid));
    expect(snapshot(shown).items).toEqual(snapshot(stored).items);
    // One snapshot, at the refresh: after the restart its last id was enough.
    expect(got.filter(([, data]) => data.includes('"type":"snapshot"'))).toHaveLength(1);
    expect(new Set(got.map(([id]) => id)).size).toBe(got.length);
    // Without the cookie there is no stream.
    const stranger = await openPage(browser, { url: `${url}/` });
    await until(() => stranger.evaluate("source.readyState === 2"), "it is refused for good");
    expect(await gotBy(stranger)).toEqual([]);
    console.log(
      `count: messages of an EventSource in Chromium after a refresh and a restart, ${got.length}, each once`,
    );
  },
);

const say = (text: string): object => ({ kind: "prompt", text });

function never(): never {
  throw new Error("there is none");
}
