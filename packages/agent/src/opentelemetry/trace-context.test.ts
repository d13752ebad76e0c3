/** A provider that makes spans of its own, by composition: what it wraps knows nothing of traces. */
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Model } from "@millrace/core";
import { call, fail, say, scriptedModel } from "@millrace/core/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import { openTelemetry } from "./index.ts";

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer("test");

beforeAll(
  () => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()),
);
afterAll(() => context.disable());
beforeEach(() => exporter.reset());

interface Request {
  readonly traceId: string | undefined;
  readonly parentSpanId: string | undefined;
}

/** A model that hands each request on, and notes the trace and the span that the request is part of. */
function traced(model: Model, requests: Request[]): Model {
  return {
    id: model.id,
    stream: (request) => {
      const [, traceId, parentSpanId] = request.trace?.traceparent.split("-") ?? [];
      requests.push({ traceId, parentSpanId });
      return model.stream(request);
    },
  };
}

function requestsOf(spans: readonly ReadableSpan[], operation: string): readonly Request[] {
  return spans
    .filter(({ attributes }) => attributes["gen_ai.operation.name"] === operation)
    .map((span) => span.spanContext())
    .map(({ traceId, spanId }) => ({ traceId, parentSpanId: spanId }));
}

const add = defineTool({ name: "add", input: z.object({}), effect: "pure", run: () => "3" });

test("a wrapped model gets the trace and the span of each attempt at a reply", async () => {
  const telemetry = openTelemetry({ tracer });
  const requests: Request[] = [];
  const script = scriptedModel([
    [call("add", {})],
    [fail("overloaded", "busy", { retryable: true })],
    [say("3.")],
  ]);
  const agent = defineAgent({
    model: traced(script, requests),
    tools: [add],
    observers: [telemetry],
    trace: telemetry.traceOf,
    retry: { attempts: 2, baseMs: 1, capMs: 1 },
  });

  const { outcome } = await agent.run("sum").result;

  expect(outcome).toBe("completed");
  expect(requests).toHaveLength(3);
  expect(requests).toStrictEqual(requestsOf(exporter.getFinishedSpans(), "chat"));
  expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(1);
});

test("a model that an agent calls by itself gets the trace and the span of the run", async () => {
  const telemetry = openTelemetry({ tracer });
  const requests: Request[] = [];
  const model = traced(scriptedModel([[say("Hi.")]]), requests);
  const agent = defineAgent({
    respond: (run) => model.stream(run.request),
    observers: [telemetry],
    trace: telemetry.traceOf,
  });

  await agent.run("hi").result;

  expect(requests).toHaveLength(1);
  expect(requests).toStrictEqual(requestsOf(exporter.getFinishedSpans(), "invoke_agent"));
});

test("without spans, or with a trace function that throws, a request has no trace", async () => {
  const broken = (): never => {
    throw new Error("no trace");
  };
  for (const trace of [undefined, broken, openTelemetry().traceOf]) {
    const requests: Request[] = [];
    const model = traced(scriptedModel([[say("Hi.")]]), requests);
    const { outcome } = await defineAgent({ model, trace }).run("hi").result;
    expect(outcome).toBe("completed");
    expect(requests).toStrictEqual([{ traceId: undefined, parentSpanId: undefined }]);
  }
});
