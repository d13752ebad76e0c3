/**
 * One of the two servers, in a process of its own, with its page. Prints its port.
 *
 *     node differential/latency/server.ts millrace|use-chat <address of the vendor>
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { defineAgent } from "@millrace/agent";
import { openaiCompatible } from "@millrace/providers/openai";
import { createMillrace } from "@millrace/server";
import type { Identity } from "@millrace/server";
import { convertToModelMessages, streamText } from "ai";
import type { UIMessage } from "ai";
import { bundleForPage, htmlOf } from "../../tests/browser/kit/bundle.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const servers: Readonly<Record<string, (vendor: string) => Answer>> = {
  millrace: (vendor) => {
    const model = openaiCompatible("millrace", { apiKey: "k", baseUrl: `${vendor}/v1` });
    const authenticate = (): Identity => ({ tenant: "web", user: "ann" });
    return createMillrace({ agent: defineAgent({ model }), authenticate, basePath: "/agent" }).node;
  },
  "use-chat": (vendor) => {
    const provider = createOpenAICompatible({ name: "v", baseURL: `${vendor}/v1`, apiKey: "k" });
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { messages } = (await json(request)) as { readonly messages: UIMessage[] };
      const prompt = await convertToModelMessages(messages);
      const model = provider("use-chat");
      const reply = streamText({ model, messages: prompt, maxRetries: 0 });
      const { status, headers, body } = reply.toUIMessageStreamResponse();
      response.writeHead(status, Object.fromEntries(headers));
      for await (const bytes of body ?? []) response.write(bytes);
      response.end();
    };
    return (request, response) => void answer(request, response).catch(() => response.destroy());
  },
};

const [name = "", vendor = ""] = process.argv.slice(2);
const answer = servers[name]?.(vendor);
if (answer === undefined) throw new Error(`there is no server ${name}`);
const program = new URL(`${name}-page.ts`, import.meta.url);
const page = htmlOf(await bundleForPage(program, "production"));
const server = createServer((request, response) => {
  response.socket?.setNoDelay(true);
  if (request.url !== "/") return answer(request, response);
  response.setHeader("content-type", "text/html; charset=utf-8").end(page);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume().on("close", () => process.exit(0));
