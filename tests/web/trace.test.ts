/** What a request says of its trace goes into the spans of the run that it begins. */
import { defineAgent, defineTool } from "@millrace/agent";
import { openTelemetry } from "@millrace/agent/opentelemetry";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import type { Millrace } from "@millrace/server";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { expect, test, vi } from "vitest";
import { z } from "zod";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

interface Served extends Disposable {
  readonly millrace: Millrace;
  /** The trace and the parent of each run's span, and what its vendors' list says. */
  readonly runs: () => readonly (readonly (string | undefined)[])[];
}

function served(replies: number): Served {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const telemetry = openTelemetry({ tracer: provider.getTracer("test") });
  const model = scriptedModel(Array.from({ length: replies }, () => [say("Yes.")]));
  const millrace = createMillrace({
    ...known,
    agent: defineAgent({ model, observers: [telemetry] }),
  });
  const runs: Served["runs"] = () =>
    exporter
      .getFinishedSpans()
      .filter(({ name }) => name.startsWith("invoke_agent"))
      .map((span) => {
        const parent = span.parentSpanContext;
        const state = parent?.traceState?.serialize();
        return [span.spanContext().traceId, parent?.spanId, state];
      });
  return { millrace, runs, [Symbol.dispose]: () => telemetry[Symbol.dispose]() };
}

interface Post {
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function post({ fetch }: Millrace, { path, body, key, headers }: Post): Promise<Response> {
  return await fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": key,
        prefer: "wait=20",
        ...headers,
      },
      body: JSON.stringify(body),
    }),
  );
}

/** A server whose every caller is the same person. */
const known = {
  authenticate: () => ({ tenant: "t", user: "ann" }),
  secret: "a secret of thirty-two characters",
};

const prompt = { kind: "prompt", text: "go" };

test("a run is part of the trace of the request that began it, whichever route it came by", async () => {
  using server = served(2);
  await using millrace = server.millrace;
  const first = { path: "/v1/sessions", body: { id: "s", input: prompt }, key: "key-000000000001" };
  await post(millrace, { ...first, headers: { traceparent, tracestate: "vendor=1" } });
  const next = { path: "/v1/sessions/s/inputs", body: prompt, key: "key-000000000002" };
  await post(millrace, { ...next, headers: { traceparent } });
  expect(server.runs()).toEqual([
    [traceId, spanId, "vendor=1"],
    [traceId, spanId, undefined],
  ]);
});

test("a repeat by another span is a repeat, and a malformed header is as good as none", async () => {
  using server = served(4);
  await using millrace = server.millrace;
  await post(millrace, { path: "/v1/sessions", body: { id: "s" }, key: "key-000000000003" });
  const input = { path: "/v1/sessions/s/inputs", body: prompt, key: "key-000000000004" };
  await post(millrace, { ...input, headers: { traceparent } });
  const other = traceparent.replace(spanId, spanId.replaceAll("b", "c"));
  const again = await post(millrace, { ...input, headers: { traceparent: other } });
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  const malformed = [`00-${"0".repeat(32)}-${spanId}-01`, `ff${traceparent.slice(2)}`, "x"];
  for (const [at, header] of malformed.entries()) {
    const key = `key-00000000001${at}`;
    expect((await post(millrace, { ...input, key, headers: { traceparent: header } })).ok).toBe(
      true,
    );
  }
  expect(server.runs().map(([, parent]) => parent)).toEqual([
    spanId,
    undefined,
    undefined,
    undefined,
  ]);
});

test("a question says when it counts as denied", async () => {
  const pay = defineTool({ name: "pay", input: z.object({}), approve: "ask", run: () => "paid" });
  const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
  const agent = defineAgent({ model, tools: [pay], approvalTimeoutMs: 60_000 });
  await using millrace = createMillrace({ ...known, agent });
  const body = { id: "s", input: prompt };
  await post(millrace, { path: "/v1/sessions", body, key: "key-000000000005" });
  await vi.waitFor(async () => {
    const answer = await millrace.fetch(new Request("http://localhost/v1/sessions/s/approvals"));
    const { approvals } = (await answer.json()) as {
      readonly approvals: readonly { readonly askedAt: number; readonly expiresAt: number }[];
    };
    expect(approvals.map(({ askedAt, expiresAt }) => expiresAt - askedAt)).toEqual([60_000]);
  });
});
