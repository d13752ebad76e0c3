import type { JsonObject } from "@millrace/core";
import { awsFrames } from "./aws-frames.ts";
import { ClaudeApi } from "./claude/api.ts";
import { converseBetas, messagesFields } from "./claude/converse-body.ts";
import { converseEvents } from "./claude/converse-events.ts";
import { claudeEvents } from "./claude/reply.ts";
import { listAt, readObject, without } from "./json.ts";
import { createVendor, Ledger } from "./ledger.ts";
import { refuse, VendorRefusal } from "./refusal.ts";
import type { StrictVendor, StrictVendorOptions, VendorHttpResponse } from "./vendor.ts";

/**
 * Claude on Amazon Bedrock, by InvokeModelWithResponseStream and by ConverseStream. The rules are
 * those of the Messages API, without what Bedrock does not have: tools defined in messages, effort in
 * messages, summaries, and system messages in Converse.
 */
export function strictBedrock(options: StrictVendorOptions): StrictVendor {
  const ledger = new Ledger();
  const api = new ClaudeApi("bedrock", options, ledger);
  return createVendor({
    ledger,
    respond: (request, reply) => {
      const [, model = "", operation] =
        /\/model\/([^/]+)\/(converse-stream|invoke-with-response-stream)$/.exec(request.path) ??
        refuse("Unknown operation", { status: 404 });
      const target = decodeURIComponent(model);
      const body = readObject(request.body);
      if (operation === "converse-stream") {
        const betas = converseBetas(body);
        const fields = messagesFields(body);
        const made = fromModel(() => api.respond({ fields, model: target, betas }, reply));
        return framed(awsFrames(converseEvents(made, body)));
      }
      const fields = invokeFields(body);
      const betas = listAt(body, "anthropic_beta").filter((beta) => typeof beta === "string");
      const events = claudeEvents(api.respond({ fields, model: target, betas }, reply));
      return framed(awsFrames(events.map((event) => ["chunk", chunk(event)] as const)));
    },
    encodeError: ({ message }) => ({
      body: { message },
      headers: { "x-amzn-errortype": "ValidationException" },
    }),
  });
}

function framed(body: Uint8Array): VendorHttpResponse {
  return { status: 200, headers: { "content-type": "application/vnd.amazon.eventstream" }, body };
}

/** The body of InvokeModel has a version, and no model. */
function invokeFields(body: JsonObject): JsonObject {
  if (body["anthropic_version"] !== "bedrock-2023-05-31") {
    refuse("anthropic_version: Field required");
  }
  for (const key of ["model", "stream", "compaction"]) {
    if (Object.hasOwn(body, key)) refuse(`${key}: Extra inputs are not permitted`);
  }
  return without(body, "anthropic_version", "anthropic_beta");
}

/** Converse repeats the refusals of the model behind words of its own. */
function fromModel<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof VendorRefusal)) throw error;
    return refuse(`The model returned the following errors: ${error.message}`);
  }
}

/** An event of the model in base64. */
function chunk(event: JsonObject): JsonObject {
  return { bytes: Buffer.from(JSON.stringify(event)).toString("base64") };
}
