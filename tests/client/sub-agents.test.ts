import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { ClientSession } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const spend = defineTool({
  name: "spend",
  description: "Spends money",
  input: z.object({ cents: z.number() }),
  approve: "ask",
  run: ({ cents }) => ({ cents }),
});

/** An agent that asks another one, which asks a person. */
function lead(): Agent {
  const packer = defineAgent({
    model: scriptedModel([[call("spend", { cents: 5 })], [say("Packed with care.")]], {
      delayMs: 2,
    }),
    tools: [spend],
  });
  return defineAgent({
    model: scriptedModel([[call("packer", { prompt: "Pack" })], [say("All done.")]]),
    tools: [packer.asTool({ name: "packer", description: "Packs" })],
  });
}

function callOf({ items }: ClientSession): string {
  const [part] = items.flatMap(({ parts }) => parts.filter(({ kind }) => kind === "tool_call"));
  return part?.kind === "tool_call" ? part.callId : "";
}

it("a sub-agent is shown on its parent's stream, is answered there, and can be opened after its end", async () => {
  await using served = await serve(lead());
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("family");
  session.subscribe(() => undefined);
  expect(session.child("call_1")).toBeUndefined();
  const { result } = session.send("Pack my bag");
  await until(() => session.child(callOf(session))?.approvals.length === 1, "the sub-agent asks");
  const child = session.child(callOf(session));
  const streams = (): readonly string[] =>
    served.requests.filter((line) => line.includes("/v1/events"));
  const before = streams().length;
  const shown: string[] = [];
  child?.subscribe((view) => shown.push(textOf(view)));
  expect(await child?.allow(child.approvals[0]?.id ?? "").accepted).toEqual({ accepted: true });

  expect(await result).toMatchObject({ outcome: "completed", text: "All done." });
  await until(() => shown.at(-1)?.endsWith("Packed with care.") === true, "all is shown");
  expect([child?.status, child?.error]).toEqual(["idle", undefined]);
  expect(streams()).toHaveLength(before); // none was opened anew

  using phone = createClient({ url: served.url, token: "ann" });
  const again = phone.session("family");
  again.subscribe(() => undefined);
  await until(() => again.items.length > 0, "it is shown");
  const later = again.child(callOf(again));
  later?.subscribe(() => undefined);
  await until(() => later !== undefined && textOf(later) !== "", "it is opened");
  expect(later?.id).toBe(child?.id);
  expect(later?.items).toEqual(child?.items);
});

it("a sub-agent that is watched while its stream is cut is shown to its end", async () => {
  await using served = await serve(lead());
  using client = createClient({ url: served.url, token: "ann", random: () => 0.05 });
  const session = client.session("cut-family");
  session.subscribe(() => undefined);
  const { result } = session.send("Pack my bag");
  await until(() => session.child(callOf(session))?.approvals.length === 1, "the sub-agent asks");
  const child = session.child(callOf(session));
  child?.subscribe(() => undefined);
  served.cut();
  await until(() => served.streams() === 1, "it is back");
  child?.allow(child.approvals[0]?.id ?? "");
  expect(await result).toMatchObject({ outcome: "completed" });
  await until(() => child?.status === "idle", "it has ended");
  expect(textOf(child as ClientSession)).toBe("Pack||Packed with care.");
  await until(() => session.status === "idle", "so has its parent");
  expect(textOf(session)).toBe("Pack my bag||All done.");
});

it("a session that was missing when it was watched is shown once another client has made it", async () => {
  const agent = defineAgent({ model: scriptedModel([[say("Hello.")]]) });
  await using served = await serve(agent);
  using ann = createClient({ url: served.url, token: "ann" });
  using phone = createClient({ url: served.url, token: "ann", random: () => 0 });
  const waiting = phone.session("later");
  waiting.subscribe(() => undefined);
  await until(() => !waiting.loading, "it is known to be missing");
  expect([waiting.items, waiting.error]).toEqual([[], undefined]);
  await ann.session("later").send("Hi").result;

  await until(() => waiting.items.length === 2, "it is seen");
  expect(textOf(waiting)).toBe("Hi|Hello.");
});
