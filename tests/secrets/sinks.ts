import { createServer } from "node:http";
import { inspect } from "node:util";
import { createInbox } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, fail, say, scriptedModel } from "@millrace/core/testing";
import { sessionUid } from "@millrace/core/writing";
import type { Model, RunEvent } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { defineAgent, defineTool, jsonLines, narrateTo, queuedObserver } from "@millrace/agent";
import type { AgentSettings, CustomAgentSettings, Observer, Tool } from "@millrace/agent";
import { openMcp } from "@millrace/agent/mcp";
import { openTelemetry } from "@millrace/agent/opentelemetry";
import { createWorker } from "@millrace/agent/worker";
import { anthropic } from "@millrace/providers/anthropic";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { z } from "zod";

/** What was written to each sink, by the name of the sink. */
export type Written = ReadonlyMap<SinkName, string>;

/** Every place that errors reach and that is no content. */
export const sinkNames = [
  "result",
  "stored facts",
  "live log",
  "events of observers",
  "queued observers",
  "JSON lines",
  "narration",
  "terminal",
  "spans",
  "notices of a provider",
  "refusals of an inbox",
  "MCP errors",
  "tool errors",
  "events of a worker",
  "process warnings",
  "crash output",
] as const;

/** One of the sinks. */
export type SinkName = (typeof sinkNames)[number];

/**
 * The files that write somewhere by themselves, with the sink that shows what they write. A file that is
 * new here needs a row in `sinkNames`, or one that covers it.
 */
export const writers: Readonly<Record<string, SinkName>> = {
  "agent/src/observe/json-lines.ts": "JSON lines",
  "agent/src/observe/narrate-to.ts": "narration",
  "agent/src/observe/write-to.ts": "terminal",
  "agent/src/observe/queued.ts": "queued observers",
  "agent/src/opentelemetry/timed-span.ts": "spans",
  "agent/src/process/confinement.ts": "process warnings",
  "agent/src/session/run-end.ts": "process warnings",
  "agent/src/work/request.ts": "notices of a provider",
  "agent/src/work/secret-notices.ts": "process warnings",
  "agent/src/worker/create-worker.ts": "events of a worker",
  "core/src/ports/log-use.ts": "process warnings",
  "core/src/ports/warn.ts": "process warnings",
  "providers/src/provider.ts": "notices of a provider",
  "server/src/hub/stream.ts": "stored facts",
  "server/src/runs/run-host.ts": "process warnings",
  "stores/src/postgres/postgres-store.ts": "process warnings",
  "temporal/src/client/temporal-driver.ts": "process warnings",
};

/** Collects what is written, by sink. */
class Sinks {
  readonly #texts = new Map<SinkName, string[]>();

  add(sink: SinkName, value: unknown): void {
    const text = typeof value === "string" ? value : inspect(value, everything);
    const more = value instanceof Error ? `${value.stack}` : jsonOf(value);
    this.#texts.set(sink, [...(this.#texts.get(sink) ?? []), text, more]);
  }

  written(): Written {
    return new Map([...this.#texts].map(([sink, texts]) => [sink, texts.join("\n")]));
  }

  textSink(sink: SinkName, isTTY = false): Parameters<typeof jsonLines>[0] {
    const write = (text: string): boolean => {
      this.add(sink, text);
      return true;
    };
    return { write, isTTY, hasColors: () => isTTY };
  }
}

const everything = { depth: 20, maxStringLength: Infinity, maxArrayLength: Infinity };

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

type Settings = AgentSettings<readonly Tool[]> | CustomAgentSettings;

/** Runs an agent with every observer, on a store and a log whose writes are kept. */
async function runAgent(sinks: Sinks, settings: Settings, toolErrors = false): Promise<void> {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const queued = queuedObserver((events) => sinks.add("queued observers", events));
  const observers: readonly Observer[] = [
    (event: RunEvent) => sinks.add("events of observers", event),
    queued,
    jsonLines(sinks.textSink("JSON lines")),
    narrateTo(sinks.textSink("narration")),
    narrateTo(sinks.textSink("terminal", true)),
    openTelemetry({ tracer: provider.getTracer("t"), content: true }),
  ];
  const store = memorySessionStore();
  const memory = memoryEventLog();
  const log: EventLog = {
    ...memory,
    append: (uid, batch) => {
      sinks.add("live log", batch);
      return memory.append(uid, batch);
    },
  };
  const agent = defineAgent({ ...settings, observers });
  const session = await agent.open({ id: "s", store, log });
  sinks.add("result", await session.send("go").result);
  await session.close();
  await queued.idle();
  const facts = await store.read((await store.find("s"))?.uid ?? sessionUid("none"));
  sinks.add(toolErrors ? "tool errors" : "stored facts", facts);
  const spans = exporter.getFinishedSpans();
  sinks.add(
    "spans",
    spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
}

const twice = { attempts: 2, baseMs: 1, capMs: 1 };

/** Errors with these words at every place that errors come from. */
export async function failEverywhere(words: string): Promise<Written> {
  const sinks = new Sinks();
  const failing = scriptedModel([
    [fail("overloaded", words, { retryable: true, evidence: { words: [words] } })],
    [say("half"), fail("bad", words)],
  ]);
  await runAgent(sinks, { model: failing, retry: twice });
  await runAgent(sinks, { respond: () => Promise.reject(new Error(words, { cause: words })) });
  await runAgent(sinks, { model: throwing(words) });
  const boom = defineTool({
    name: "boom",
    input: z.object({}),
    run: () => {
      throw new Error(words, { cause: new Error(words) });
    },
  });
  const calling = (): Model => scriptedModel([[call("boom", {})], [say("done")]]);
  await runAgent(sinks, { model: calling(), tools: [boom] }, true);
  const hooks = { beforeTool: () => Promise.reject(new Error(words)) };
  await runAgent(sinks, { model: calling(), tools: [boom], hooks }, true);
  await failProvider(sinks, words);
  await failPorts(sinks, words);
  await failMcp(sinks, words);
  return sinks.written();
}

/** A model that is not built on Millrace's own stream, and throws. */
function throwing(words: string): Model {
  return {
    id: "own/model",
    stream: () => {
      throw new Error(words);
    },
  };
}

/** A vendor's error in the stream, an event that is not known, and a body of an error. */
async function failProvider(sinks: Sinks, words: string): Promise<void> {
  const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  const unknown = event({ type: "zz", words });
  const error = event({ type: "error", error: { type: "overloaded_error", message: words } });
  const answers = [
    new Response(unknown + error, { headers: { "content-type": "text/event-stream" } }),
    new Response(`data: ${words.replaceAll("\n", " ")}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    }),
    new Response(JSON.stringify({ error: { message: words } }), { status: 503 }),
    new Response(words, { status: 401 }),
  ];
  const fetch = async (): Promise<Response> => answers.shift() ?? Response.error();
  const retry = { attempts: 4, baseMs: 1, capMs: 1 };
  const model = anthropic("m", { apiKey: "k", fetch, retry });
  const notify = (notice: object): void => sinks.add("notices of a provider", notice);
  const stream = model.stream({ transcript: [], notify });
  sinks.add("result", await stream.result);
}

/** A store that fails, for an inbox and for a worker, and a log that fails. */
async function failPorts(sinks: Sinks, words: string): Promise<void> {
  const refuse = (): Promise<never> => Promise.reject(new Error(words, { cause: words }));
  const memory = memorySessionStore();
  const log = memoryEventLog();
  const broken: SessionStore = { ...memory, accept: refuse, key: refuse };
  const inbox = createInbox({ store: broken, log, uid: sessionUid("u") });
  sinks.add("refusals of an inbox", await inbox.send("go"));

  const drivers = memory.drivers === undefined ? undefined : { ...memory.drivers, due: refuse };
  const agent = defineAgent({ model: scriptedModel([]) });
  const { promise: away, resolve } = Promise.withResolvers<void>();
  const worker = await createWorker({
    agent,
    store: { ...memory, ...(drivers === undefined ? {} : { drivers }) },
    log,
    onEvent: (event) => {
      sinks.add("events of a worker", event);
      if (event.type === "store_away") resolve();
    },
  });
  const over = worker.run();
  await away;
  await worker.shutdown();
  await over;

  const cut: EventLog = { ...log, tail: refuse, heads: refuse };
  const observers: readonly Observer[] = [(event) => sinks.add("events of observers", event)];
  const viewed = defineAgent({ model: scriptedModel([[say("x")]]), observers });
  const session = await viewed.open({ store: memory, log: cut });
  await session.send("go").result;
  await session.close();
}

/** A server of tools that can't be opened, and one whose tool fails. */
async function failMcp(sinks: Sinks, words: string): Promise<void> {
  const error = { code: -32_000, message: words };
  const attempt = async (answers: Readonly<Record<string, object>>): Promise<void> => {
    await using server = await serveRpc(answers);
    try {
      await using connection = await openMcp({
        name: "s",
        url: server.url,
        openTimeoutMs: 10_000,
        trust: ["t"],
      });
      const [tool] = connection.tools;
      if (tool === undefined) return;
      const model = scriptedModel([[call(tool.name, {})], [say("done")]]);
      await runAgent(sinks, { model, tools: [tool] }, true);
    } catch (thrown) {
      sinks.add("MCP errors", thrown);
    }
  };
  const initialize = {
    result: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "0" },
    },
  };
  const list = { result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } };
  const failed = { result: { isError: true, content: [{ type: "text", text: words }] } };
  await attempt({ initialize: { error } });
  await attempt({ initialize, "tools/list": list, "tools/call": { error } });
  await attempt({ initialize, "tools/list": list, "tools/call": failed });
}

interface RpcServer extends AsyncDisposable {
  readonly url: string;
}

/** Answers each method as given, over HTTP. */
async function serveRpc(answers: Readonly<Record<string, object>>): Promise<RpcServer> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = Buffer.concat(pieces).toString();
      const asked = (body === "" ? {} : JSON.parse(body)) as { id?: number; method?: string };
      const answer = answers[asked.method ?? ""];
      if (asked.id === undefined || answer === undefined) return response.writeHead(202).end();
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...answer }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
