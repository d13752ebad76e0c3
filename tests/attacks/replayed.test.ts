/** A program with Redis and nothing else sends true messages again: those of other sessions, and old ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { createClient } from "@millrace/client";
import { redisLog } from "@millrace/stores/redis";
import { createClient as connectToRedis } from "@redis/client";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { Served } from "../../packages/server/src/testing/served.ts";
import { keysOf } from "../../packages/stores/src/redis/keys.ts";
import { sharedRedis } from "../../scripts/services/shared.ts";
import { patience } from "../kit/patience.ts";
import { Random } from "../kit/random.ts";
import { firstSeed } from "../kit/runs.ts";

interface Message {
  readonly channel: string;
  readonly text: string;
}

/** Writes sixty words that no other reply has, or asks to wipe. */
function model(): Model {
  let replies = 0;
  return {
    id: "test/model",
    stream: (request) => {
      const asked = request.transcript.findLast(({ author }) => author === "user")?.parts[0];
      const isWipe = asked?.kind === "text" && asked.text === "wipe";
      if (isWipe && request.transcript.at(-1)?.author !== "tool")
        return scriptedModel([[call("wipe", {})]]).stream(request);
      const reply = (replies += 1);
      const words = Array.from({ length: 60 }, (_, at) => `r${reply}w${at} `);
      return scriptedModel([words.map((word) => say(word))], { delayMs: 5 }).stream(request);
    },
  };
}

test(
  "true messages that are sent again change no text, run no tool and answer no question",
  { timeout: patience },
  async () => {
    const { url, prefix } = await sharedRedis();
    const wiped: string[] = [];
    const wipe = defineTool({
      name: "wipe",
      description: "Wipes",
      input: z.object({}),
      approve: "ask",
      run: () => {
        wiped.push("wiped");
        return "wiped";
      },
    });
    const store = memorySessionStore();
    const log = redisLog({ url, prefix });
    await using served = new Served(defineAgent({ model: model(), tools: [wipe] }), {
      store: () => store,
      log,
    });
    using connections = new DisposableStack();
    const connect = async () =>
      connections.adopt(await connectToRedis({ url }).connect(), (client) => client.destroy());
    const [attacker, ear] = await Promise.all([connect(), connect()]);
    const recorded: Message[] = [];
    const channels: string[] = [];
    const lanes: string[] = [];
    let isRecording = true;
    for (const id of ["a", "b"]) {
      await served.create(id);
      const record = await store.find(id);
      if (record === undefined) throw new Error("the session was made above");
      const { tail, facts, nudges, lane } = keysOf(prefix, record.uid);
      lanes.push(lane(0));
      for (const channel of [tail, facts, nudges]) {
        channels.push(channel);
        await ear.sSubscribe(channel, (text) => {
          if (isRecording) recorded.push({ channel, text });
        });
      }
    }
    const open = () =>
      createClient({
        url: "http://localhost",
        token: "ann",
        fetch: (...args) => served.millrace.fetch(new Request(...args)),
      });
    using viewer = open();
    const [a, b] = [viewer.session("a"), viewer.session("b")];
    using watched = new DisposableStack();
    for (const session of [a, b]) watched.defer(session.subscribe(() => undefined));
    const textOf = ({ items }: typeof a): string =>
      items
        .map(
          ({ author, parts }) =>
            `${author}: ${parts.map((part) => ("text" in part ? part.text : part.kind)).join()}`,
        )
        .join("\n");

    for (const session of [a, b]) await session.send("write").result;
    const allowed = a.send("wipe");
    const question = await vi.waitUntil(() => a.approvals[0], { timeout: patience / 4 });
    a.allow(question.id);
    await allowed.result;
    isRecording = false;
    expect(wiped).toHaveLength(1);
    expect(recorded.length).toBeGreaterThan(20);

    const random = new Random(firstSeed);
    const writing = a.send("write");
    for (let sent = 0; sent < 600; sent += 1) {
      const { text } = random.pick(recorded);
      const cut = random.chance(0.1) ? text.slice(0, random.below(text.length)) : text;
      await attacker.sPublish(random.pick(channels), cut);
      if (sent % 20 === 0) await sleep(5);
    }
    for (const from of lanes)
      for (const { message } of (await attacker.xRange(from, "-", "+")) ?? [])
        for (const to of lanes) await attacker.xAdd(to, "*", message).catch(() => undefined);
    await writing.result;

    const asked = a.send("wipe");
    await vi.waitUntil(() => a.approvals.length > 0, { timeout: patience / 4 });
    for (const { channel, text } of recorded) await attacker.sPublish(channel, text);
    await sleep(500);
    expect(a.approvals).toHaveLength(1);
    expect(wiped).toHaveLength(1);
    a.abort();
    await asked.result;

    using later = open();
    const fresh = later.session("a");
    watched.defer(fresh.subscribe(() => undefined));
    const stored = await (await served.request("/v1/sessions/a/export?format=markdown")).text();
    await vi.waitUntil(() => textOf(fresh) === textOf(a), { timeout: patience / 4 });
    for (const word of ["r1w59", "r4w59"]) expect(stored.split(`${word} `)).toHaveLength(2);
    expect(textOf(a).split("r4w59 ")).toHaveLength(2);
    console.log(
      `count: ${recorded.length} true messages recorded, ${600 + recorded.length} sent again`,
    );
  },
);
