// The server of the cases, as a process of its own: it is killed and started again on its port.
//
//     node server.ts <port> <folder>
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import { fileBlobs, fileStore } from "@millrace/stores/file";
import { z } from "zod";
import { long, talk } from "./script.ts";

const [port = "0", folder = ""] = process.argv.slice(2);

const spend = defineTool({
  name: "spend",
  description: "Spends money",
  input: z.object({ cents: z.number() }),
  approve: "ask",
  run: ({ cents }) => ({ cents }),
});

/** What the model replies to the last item of a transcript: the prompt decides. */
function replyTo({ transcript }: Parameters<Model["stream"]>[0]): readonly ScriptedPart[] {
  const parts = transcript.at(-1)?.parts ?? [];
  const result = parts.find((part) => part.kind === "tool_result");
  if (result?.kind === "tool_result")
    return [say(result.status === "ok" ? "It is done." : "Then not.")];
  const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  if (text.startsWith("Spend")) return [call("spend", { cents: 5 })];
  if (text.startsWith("Pack")) return [call("packer", { prompt: "Spend what it takes" })];
  if (text.startsWith("Long")) return [say(`${text} ${long}`)];
  if (text.startsWith("Look"))
    return [say(`${parts.filter(({ kind }) => kind !== "text").length} files`)];
  return [say(talk)];
}

const model: Model = {
  id: "scripted/cases",
  stream: (request) => {
    const reply = replyTo(request);
    const isLong = reply.some((part) => "say" in part && part.say.length > long.length);
    const options = { delayMs: 12, chunk: isLong ? [2_000] : [6, 3, 8] };
    return scriptedModel([reply], options).stream(request);
  },
};
const packer = defineAgent({ model, tools: [spend] });
const agent = defineAgent({
  model,
  tools: [spend, packer.asTool({ name: "packer", description: "Packs" })],
});
const millrace = createMillrace({
  agent,
  store: fileStore(`${folder}/sessions`),
  blobs: fileBlobs(`${folder}/blobs`),
  secret: "both lives of this server have it",
  streams: { budgetBytes: 16 * 1_024 },
  authenticate: ({ headers }) =>
    headers.get("authorization") === "Bearer ann" ? { tenant: "default", user: "ann" } : undefined,
});

let streams = 0;
const server = createServer((request, response) => {
  if (request.url === "/streams") return void response.end(String(streams));
  if (request.url === "/v1/events" && request.headers["x-buffered"] === undefined) {
    streams += 1;
    response.once("close", () => (streams -= 1));
  }
  return millrace.node(request, response);
}).listen(Number(port), "127.0.0.1", () => {
  console.log((server.address() as AddressInfo).port); // it listens
});
