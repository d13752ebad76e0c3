import { createClient, storageOutbox } from "@millrace/client";
import type { ClientSession, TextStorage } from "@millrace/client";
import { freshId, same, textOf, until } from "./kit.ts";
import type { Case, Kit } from "./kit.ts";
import { talk } from "./script.ts";

const token = "ann";
const ok = { accepted: true };
/** Pauses are short: a case waits for the client, not for its patience. */
const random = (): number => 0.05;

/** What the client promises, in any runtime. One server and one way to it: they run one after the other. */
export const cases: Readonly<Record<string, Case>> = {
  "a run is streamed to its end": async ({ url }) => {
    using client = createClient({ url, token });
    const session = client.session(freshId("streamed"));
    session.subscribe(() => undefined);
    const run = session.send("Talk");
    const pieces: string[] = [];
    for await (const piece of run.textStream()) pieces.push(piece);
    same(pieces.join(""), talk, "the text of the stream");
    if (pieces.length < 5) throw new Error(`it came in ${pieces.length} pieces`);
    const result = await run.result;
    same([result.outcome, result.text], ["completed", talk], "the result");
    await until(() => session.status === "idle", "it is idle");
    same(textOf(session), `Talk|${talk}`, "the screen");
  },

  "a reply whose connection is cut in its middle is whole": async (kit) => {
    using client = createClient({ url: kit.url, token, random });
    const session = client.session(freshId("cut"));
    const seen: string[] = [];
    session.subscribe((view) => seen.push(textOf(view)));
    const { result } = session.send("Talk");
    for (const word of ["word 5", "word 15", "word 25"]) {
      await until(() => textOf(session).includes(word), word);
      await kit.disturb("cut");
    }
    same((await result).outcome, "completed", "the outcome");
    await until(() => textOf(session) === `Talk|${talk}`, "the whole text");
    checkGrowth(seen);
  },

  "a stop keeps what came": async ({ url }) => {
    using client = createClient({ url, token });
    const session = client.session(freshId("stopped"));
    session.subscribe(() => undefined);
    const run = session.send("Talk");
    await until(() => textOf(session).includes("word 3"), "it talks");
    same(await session.abort("enough").accepted, ok, "the stop");
    same((await run.result).outcome, "aborted", "the outcome");
    await until(() => session.status === "idle", "it is idle");
    const text = textOf(session).replace("Talk|", "");
    if (!talk.startsWith(text) || text.length < 10)
      throw new Error(`what came is not kept: ${text}`);
  },

  "a question is allowed, and denied with a reason": async ({ url }) => {
    using client = createClient({ url, token });
    const session = client.session(freshId("asked"));
    session.subscribe(() => undefined);
    for (const decision of ["allow", "deny"] as const) {
      const run = session.send("Spend");
      await until(() => session.approvals.length === 1, "it asks");
      const id = session.approvals[0]?.id ?? "";
      const sent = decision === "allow" ? session.allow(id) : session.deny(id, "too dear");
      same(await sent.accepted, ok, decision);
      same(await run.text(), decision === "allow" ? "It is done." : "Then not.", decision);
      await until(() => session.status === "idle", "it is idle");
    }
    const calls = session.items.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === "tool_call" ? [part.state] : [])),
    );
    same(calls, ["finished", "denied"], "the calls");
  },

  "files go with a prompt, small and large": async ({ url }) => {
    using client = createClient({ url, token });
    const session = client.session(freshId("files"));
    session.subscribe(() => undefined);
    const small = new File(["short"], "a.txt", { type: "text/plain" });
    const large = new File([new Uint8Array(100_000).fill(121)], "b.bin");
    const photo = new Blob([new Uint8Array(50_000)], { type: "image/png" });
    same(await session.send(["Look", small, large, photo]).text(), "3 files", "the answer");
    const parts = session.items[0]?.parts ?? [];
    const shown = parts.map((part) => [part.kind, "size" in part ? part.size : undefined]);
    const wanted = [["text"], ["file", 5], ["file", 100_000], ["media", 50_000]];
    same(
      shown.map((each) => each.filter((one) => one !== undefined)),
      wanted,
      "the parts",
    );
  },

  "two sessions come on one stream": async (kit) => {
    using client = createClient({ url: kit.url, token });
    const pair = [client.session(freshId("one")), client.session(freshId("two"))];
    for (const session of pair) session.subscribe(() => undefined);
    const results = await Promise.all(pair.map((session) => session.send("Talk").result));
    same(
      results.map(({ outcome }) => outcome),
      ["completed", "completed"],
      "the outcomes",
    );
    await until(() => pair.every((session) => session.status === "idle"), "both are idle");
    same(pair.map(textOf), [`Talk|${talk}`, `Talk|${talk}`], "the screens");
    await until(async () => (await kit.streams()) === 1, "one stream", 5_000);
  },

  "a sub-agent's question is answered in its own session": async ({ url }) => {
    using client = createClient({ url, token });
    const session = client.session(freshId("family"));
    session.subscribe(() => undefined);
    const run = session.send("Pack");
    const child = (): ClientSession | undefined => session.child(callOf(session));
    await until(() => child()?.approvals.length === 1, "the sub-agent asks");
    same(await child()?.allow(child()?.approvals[0]?.id ?? "").accepted, ok, "the answer");
    same(await run.text(), "It is done.", "the parent's answer");
  },

  "earlier items come by page": async ({ url }) => {
    const id = freshId("long");
    {
      using writer = createClient({ url, token });
      for (let at = 0; at < 6; at += 1) await writer.session(id).send(`Long ${at}`).result;
    }
    using client = createClient({ url, token });
    const session = client.session(id);
    session.subscribe(() => undefined);
    await until(() => !session.loading, "it is shown");
    if (session.earlier === undefined) throw new Error("the snapshot has everything");
    for (let more = true, page = 0; more && page < 12; page += 1)
      more = await session.loadEarlier(3);
    const asked = session.items.filter(({ author }) => author === "user");
    const prompts = asked.map((item) => textOf({ items: [item] }));
    same(prompts, ["Long 0", "Long 1", "Long 2", "Long 3", "Long 4", "Long 5"], "the prompts");
  },

  "what was sent before a reload arrives after it, once": async (kit) => {
    const id = freshId("reloaded");
    const outbox = storageOutbox(memoryStorage());
    {
      using page = createClient({ url: kit.url, token, random, outbox });
      const session = page.session(id);
      session.subscribe(() => undefined);
      await session.send("Spend nothing yet").accepted; // the server has named its user
      await until(() => session.approvals.length === 1, "it asks");
      await kit.disturb("down");
      session.followUp("Look");
      await until(() => session.queue.length === 1, "it waits");
    }
    same((await outbox.load()).length, 1, "what is kept");
    await kit.disturb("up");
    using page = createClient({ url: kit.url, token, random, outbox });
    const session = page.session(id);
    session.subscribe(() => undefined);
    await until(() => session.queue.length === 1 && session.approvals.length === 1, "it arrives");
    await until(async () => (await outbox.load()).length === 0, "it is answered");
    await session.deny(session.approvals[0]?.id ?? "").accepted;
    await until(() => session.status === "idle", "it is idle");
    const prompts = session.items.filter(({ author }) => author === "user").length;
    same([prompts, session.queue], [2, []], "the prompts");
  },
};

/** Takes ten seconds: a client waits twice for a silent stream. Runs beside the others, on its own way. */
export const slowCases: Readonly<Record<string, Case>> = {
  "behind a proxy that holds streams back a reply comes by polls": async ({ buffering }) => {
    using client = createClient({ url: buffering, token, random });
    const session = client.session(freshId("polled"));
    const seen: string[] = [];
    session.subscribe((view) => seen.push(textOf(view)));
    await until(() => !session.loading || client.connection === "live", "it polls", 40_000);
    const { outcome } = await session.send("Talk").result;
    same(outcome, "completed", "the outcome");
    await until(() => textOf(session) === `Talk|${talk}`, "the whole text");
    checkGrowth(seen);
  },
};

/** Kills the server: runs when all others are done. */
export const lastCases: Readonly<Record<string, Case>> = {
  "a server that is killed in mid-reply and started again goes on with it": async (kit: Kit) => {
    using client = createClient({ url: kit.url, token, random });
    const session = client.session(freshId("killed"));
    session.subscribe(() => undefined);
    const { result } = session.send("Talk");
    await until(() => textOf(session).includes("word 5"), "it talks");
    await kit.disturb("kill");
    await until(() => session.connection === "reconnecting", "the break is shown");
    const next = session.send("Look");
    same(session.queue.at(-1)?.text, "Look", "what waits");
    await kit.disturb("restart");
    same((await result).outcome, "completed", "the outcome");
    same(await next.text(), "0 files", "what was sent meanwhile");
    await until(() => session.status === "idle", "it is idle");
    same(textOf(session), `Talk|${talk}|Look|0 files`, "the screen");
  },
};

/** What is shown of one attempt only grows. */
function checkGrowth(seen: readonly string[]): void {
  for (const [at, text] of seen.entries()) {
    const before = seen[at - 1] ?? "";
    if (!text.startsWith(before)) throw new Error(`${before} became ${text}`);
  }
}

function callOf({ items }: ClientSession): string {
  for (const part of items.flatMap(({ parts }) => parts))
    if (part.kind === "tool_call") return part.callId;
  return "";
}

/** A `localStorage` that outlives a client. */
function memoryStorage(): TextStorage {
  const texts = new Map<string, string>();
  return {
    get length() {
      return texts.size;
    },
    key: (at) => [...texts.keys()][at] ?? null,
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  };
}
