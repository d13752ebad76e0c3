// Loaded before the program: OpenTelemetry's own SDK, with an exporter that prints its spans at the
// end.
import { writeSync } from "node:fs";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

process.once("exit", () => {
  const spans = exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
    attributes: span.attributes,
  }));
  writeSync(2, JSON.stringify(spans));
});
