/** The servers between vendor and viewers that are compared. Each answers a request for one stream. */
import { request } from "node:http";
import type { ServerResponse } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { defineAgent } from "@millrace/agent";
import { sessionId } from "@millrace/core/writing";
import type { EventLog } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { openaiCompatible } from "@millrace/providers/openai";
import { createHub, sseSink } from "@millrace/server/hub";
import { redisLog } from "@millrace/stores/redis";
import { streamText } from "ai";

/** Answers a viewer of a stream. The first viewer of a stream starts it. */
export type Answer = (stream: number, response: ServerResponse) => void;

const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
/** The window that every lane had before it followed the load. */
const wide = { leastMs: 50, mostMs: 50 };

/** The contenders, by their names in the table. */
export const servers: Readonly<Record<string, (vendor: string) => Answer>> = {
  raw: rawPipe,
  "ai sdk": aiSdk,
  memory: (vendor) => millrace(vendor, memoryEventLog()),
  "memory wide": (vendor) => millrace(vendor, memoryEventLog({ window: wide })),
  "memory 0": (vendor) => millrace(vendor, memoryEventLog({ window: { leastMs: 0, mostMs: 0 } })),
  "memory 8": (vendor) => millrace(vendor, memoryEventLog({ window: { leastMs: 8, mostMs: 8 } })),
  redis: (vendor) => millrace(vendor, redisLog()),
  "redis 8": (vendor) => millrace(vendor, redisLog({ window: { leastMs: 8, mostMs: 50 } })),
  "redis wide": (vendor) => millrace(vendor, redisLog({ window: wide })),
};

/** The vendor's bytes as they come, to every viewer of the stream. */
function rawPipe(vendor: string): Answer {
  const viewers = new Map<number, ServerResponse[]>();
  return (stream, response) => {
    response.writeHead(200, headers).flushHeaders();
    const known = viewers.get(stream);
    known?.push(response);
    if (known !== undefined) return;
    const all = [response];
    viewers.set(stream, all);
    const body = JSON.stringify({ model: `stream-${stream}`, stream: true, messages: [] });
    const asked = request(`${vendor}/v1/chat/completions`, { method: "POST" }, (answer) => {
      answer.on("data", (bytes: Buffer) => {
        for (const one of all) one.write(bytes);
      });
    });
    asked.on("error", () => undefined).end(body);
  };
}

function aiSdk(vendor: string): Answer {
  const provider = createOpenAICompatible({ name: "v", baseURL: `${vendor}/v1`, apiKey: "k" });
  return (stream, response) => void pipe(stream, response).catch(() => response.destroy());

  async function pipe(stream: number, response: ServerResponse): Promise<void> {
    const model = provider(`stream-${stream}`);
    const answer = streamText({ model, prompt: "go", maxRetries: 0 }).toUIMessageStreamResponse();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const bytes of answer.body ?? []) response.write(bytes);
    response.end();
  }
}

function millrace(vendor: string, log: EventLog): Answer {
  const store = memorySessionStore();
  const hub = createHub({ store, log });
  const started = new Map<number, ReturnType<typeof start>>();
  return (stream, response) => {
    const known = started.get(stream) ?? start(stream);
    started.set(stream, known);
    void known.then((session) => hub.deliver(session, sseSink(response)));
  };

  async function start(stream: number) {
    const options = { apiKey: "k", baseUrl: `${vendor}/v1` };
    const model = openaiCompatible(`stream-${stream}`, options);
    const id = sessionId(`stream-${stream}`);
    const session = await defineAgent({ model }).open({ id, store, log });
    void session.send("go").result;
    const record = await store.find(id);
    if (record === undefined) throw new Error("no session");
    return record;
  }
}
