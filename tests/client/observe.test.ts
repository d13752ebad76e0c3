import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { SessionChange } from "@millrace/client";
import { narrate } from "@millrace/core";
import { apply } from "@millrace/core/reading";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const words = Array.from({ length: 30 }, (_, at) => `word ${at}`).join(", ");

it("an observer gets each message with the states around it, so that narrations of them are the whole text, until it leaves", async () => {
  const model = scriptedModel([[say("Hello.")], [say(words)], [say("Unheard.")]], { delayMs: 3 });
  await using served = await serve(defineAgent({ model }));
  using client = createClient({ url: served.url, token: "ann", random: () => 0.05 });
  const session = client.session("observed");
  const changes: SessionChange[] = [];
  const leave = session.observe((change) => void changes.push(change));
  await session.send("Hi").result;
  await until(() => session.status === "idle", "it is idle");
  const known = changes.length;
  const run = session.send("Go");
  await until(() => textOf(session).includes("word 9"), "it talks");
  served.cut();
  await run.result;
  await until(() => session.status === "idle", "it is idle again");

  expect(changes[0]?.before).toBeUndefined();
  let text = "";
  for (const { before, messages, state } of changes.slice(known)) {
    let reached = before;
    for (const message of messages) {
      if (reached === undefined) throw new Error("messages follow a state");
      for (const narration of narrate(reached, message))
        if (narration.type === "assistant_text_delta") text += narration.text;
      reached = apply(reached, message).state;
    }
    if (messages.length > 0) expect(reached).toEqual(state);
  }
  expect(text).toBe(words);

  leave();
  const { length } = changes;
  await session.send("More").result;
  await until(() => textOf(session).endsWith("Unheard."), "it is shown");
  expect(changes).toHaveLength(length);
});

it("a listener that throws is told to the platform, and takes nothing from the others", async () => {
  const told: unknown[] = [];
  const queue = queueMicrotask;
  using _ = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((task) => {
    queue(() => {
      try {
        task();
      } catch (error) {
        told.push(error);
      }
    });
  });
  await using served = await serve(
    defineAgent({ model: scriptedModel([[say("Hello.")], [say(words)]], { delayMs: 3 }) }),
  );
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("thrown");
  session.subscribe(() => undefined);
  await session.send("Hi").result;
  await until(() => session.connection === "live" && session.items.length === 2, "it is live");
  const broken = (): never => {
    throw new Error("of the page");
  };
  session.subscribe(broken);
  session.observe(broken);
  const connections = new Set<string>();
  session.subscribe(({ connection }) => connections.add(connection));
  await session.send("Go").result;
  await until(() => textOf(session).endsWith(words), "it is shown");

  expect(connections).not.toContain("reconnecting");
  expect(told).toContainEqual(new Error("of the page"));
});
