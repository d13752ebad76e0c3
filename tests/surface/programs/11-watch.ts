// Watch, and step in.
import { defineAgent, narrateTo } from "@millrace/agent";
import { openTelemetry } from "@millrace/agent/opentelemetry";
import type { Model, Transcript } from "@millrace/core";
import { refund } from "./08-spends-money.ts";

declare const model: Model;
declare const metrics: { count(name: string): void };
declare function redact(transcript: Transcript): Transcript;
const tools = [refund];

export const watched = defineAgent({
  model,
  tools,
  observers: [narrateTo(process.stdout), openTelemetry(), (event) => metrics.count(event.type)],
});

export const guarded = defineAgent({
  model,
  tools,
  hooks: {
    beforeReply: (request) => ({ ...request, transcript: redact(request.transcript) }),
  },
});
