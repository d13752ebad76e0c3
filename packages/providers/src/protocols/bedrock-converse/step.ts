import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import { vendorFailure } from "../../failure.ts";
import { excerpt, filledAt, isSound, objectAt, pick, textAt } from "../read.ts";
import { indexOf, startBlock, stopBlock } from "./blocks.ts";
import { addDelta } from "./deltas.ts";
import { broken, failed, noOperations, unknown } from "./state.ts";
import type { BedrockConverseState, Outcome } from "./state.ts";

/** Translates one event. The framing names it, and names exceptions of the service `error`. */
export function step(state: BedrockConverseState, { name, data }: VendorEvent): Outcome {
  // The sentinel of other vendors. Nothing follows it, and it proves nothing.
  if (data === undefined) return { state, operations: noOperations, sign: "over" };
  if (state.stopped && contentEvents.has(name)) {
    return broken(state, "content came behind the end of the message", { event: name });
  }
  switch (name) {
    case "contentBlockDelta":
      return addDelta(state, data);
    case "contentBlockStart":
      return startBlock(state, indexOf(data), objectAt(data, "start") ?? {});
    case "contentBlockStop":
      return stopBlock(state, indexOf(data));
    case "messageStart":
      return { state, operations: noOperations };
    case "messageStop":
      return stopMessage(state, data);
    case "metadata":
      return addMetadata(state, data);
    case "error":
      return reported(state, data);
    default:
      return unknown(state);
  }
}

const contentEvents: ReadonlySet<string> = new Set([
  "contentBlockDelta",
  "contentBlockStart",
  "contentBlockStop",
]);

/** The reply is complete. Its usage is in an event of its own, which follows unless it is lost. */
function stopMessage(state: BedrockConverseState, data: JsonObject): Outcome {
  const stopReason = filledAt(data, "stopReason");
  if (stopReason === undefined) return broken(state, "the message stopped without a reason");
  const facts = { ...state.facts, ...pick(data, ["additionalModelResponseFields"]) };
  return {
    state: { ...state, stopped: true, stopReason, facts },
    operations: noOperations,
    sign: "settled",
  };
}

const metadataFacts = ["metrics", "trace", "performanceConfig", "serviceTier"];

function addMetadata(state: BedrockConverseState, data: JsonObject): Outcome {
  const usage = objectAt(data, "usage") ?? state.usage;
  const details = pick(usage, ["cacheDetails"]);
  const facts = { ...state.facts, ...pick(data, metadataFacts), ...details };
  return {
    state: { ...state, usage, facts },
    operations: noOperations,
    ...(state.stopped ? { sign: "over" } : {}),
  };
}

function reported(state: BedrockConverseState, data: JsonObject): Outcome {
  const given = data["error"];
  const error = isJsonObject(given) ? given : {};
  const message = textAt(error, "message") ?? textAt(error, "originalMessage") ?? "";
  const evidence = isSound(data) ? data : { type: excerpt(textAt(error, "type") ?? "error") };
  // The status is that of the model's own server, behind the service.
  const names = [error["type"], error["originalStatusCode"]];
  return failed(
    state,
    vendorFailure(names, excerpt(message) || "the vendor reported an error", evidence),
  );
}
