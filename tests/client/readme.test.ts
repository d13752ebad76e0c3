// The programs of the client's README.
import { defineAgent, defineTool } from "@millrace/agent";
import { createClient, previewOf, seenMarks } from "@millrace/client";
import type { PartOf } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { Millrace } from "@millrace/server";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

const book = defineTool({
  name: "book",
  description: "Books a room",
  input: z.object({ city: z.string(), nights: z.number() }),
  approve: "ask",
  run: ({ city }) => ({ room: `a room in ${city}` }),
});

it("a program sends, is asked, and gets an answer of a shape", async () => {
  const model = scriptedModel([
    [call("book", { city: "Bergen", nights: 2 })],
    [say('{"city": "Bergen", "price": 180}')],
  ]);
  await using served = await serve(defineAgent({ model, tools: [book] }));
  const { url } = served;
  // #region run
  using client = createClient({ url, token: "ann" });
  const session = client.session("trip");
  const run = session.send("A room in Bergen, please", {
    output: z.object({ city: z.string(), price: z.number() }),
    ask: ({ tool }) => (tool === "book" ? "allow" : "deny"),
  });
  const result = await run.result;
  if (result.outcome === "completed") console.log(result.output.price); // a number
  const markdown = await (await session.export("markdown")).text();
  // #endregion

  expect(result).toMatchObject({ outcome: "completed", output: { city: "Bergen", price: 180 } });
  expect(markdown).toContain("Bergen");
});

it("a screen shows the arguments of a call as they are written, and what is new", async () => {
  const model = scriptedModel([[call("book", { city: "Bergen ".repeat(40), nights: 2 })]], {
    delayMs: 5,
    chunk: [8],
  });
  const agent = defineAgent({ model, tools: [book] });
  await using served = await serve(agent);
  using client = createClient<Millrace<typeof agent>>({ url: served.url, token: "ann" });
  const storage = { getItem: () => null, setItem: () => undefined };
  const session = client.session("writing");
  const shown = new Set<string>();
  session.subscribe(({ items }) => {
    for (const { parts } of items) for (const part of parts) shown.add(textOf(part));
  });
  session.send("Go");
  await until(() => session.approvals.length === 1, "it asks");

  // #region part
  function textOf(part: PartOf<typeof client>): string {
    if (part.kind === "text") return part.text;
    if (part.kind !== "tool_call") return "";
    if (part.state !== "writing") return `${part.tool}: ${part.state}`;
    const { city = "" } = previewOf(part); // as far as it is written
    return `${part.tool}: ${city} …`;
  }
  // #endregion
  // #region seen
  const seen = seenMarks(storage); // without an argument: localStorage
  const count = seen.newItems(session); // since the person was here
  const { sessions } = await client.sessions();
  const unread = sessions.filter(seen.isUnread);
  seen.mark(session); // while it is on the screen
  // #endregion

  expect([count, unread.length]).toEqual([2, 1]);
  expect([...shown].filter((text) => text.startsWith("book: Bergen")).length).toBeGreaterThan(3);
  expect([...shown].at(-1)).toBe("book: waiting");
});
