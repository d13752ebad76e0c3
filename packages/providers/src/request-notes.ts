import { withoutLogin } from "@millrace/core/checks";
import { isJsonObject } from "@millrace/core/json";
import type { Cause, JsonObject } from "@millrace/core";
import type { ModelNotice, TraceContext } from "@millrace/core/ports";
import type { Endpoint } from "./endpoint.ts";
import { failure } from "./failure.ts";
import type { Exchange } from "./transport/exchange.ts";

/** The headers of a trace. Anything that does not have the W3C's format is not sent. */
export function headersOf(trace: TraceContext | undefined): Readonly<Record<string, string>> {
  const { traceparent = "", tracestate = "" } = trace ?? {};
  if (!/^[\da-f]{2}(-[\da-f]+){3}$/.test(traceparent) || traceparent.length > 128) return {};
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** The first tier of service that one of these names: what the vendor reports, then what it was asked for. */
export function tierOf(places: readonly unknown[]): string | undefined {
  const names = places.flatMap((place) =>
    isJsonObject(place) ? [place["service_tier"], place["serviceTier"]] : [],
  );
  // Bedrock's is an object with a type.
  const tiers = names.map((name) => (isJsonObject(name) ? name["type"] : name));
  return tiers.find((name) => typeof name === "string");
}

/** The remark for a reply that the vendor cut at a limit of tokens, with the limit of the request. */
export function cutRemark({ body }: Exchange): ModelNotice {
  const wire = JSON.parse(body) as JsonObject; // written by `#exchange`
  const inner = [wire["generationConfig"], wire["inferenceConfig"]].filter(isJsonObject);
  const sent = [wire, ...inner]
    .flatMap((fields) => Object.entries(fields))
    .find(([name]) => limitNames.includes(name));
  const limit =
    sent === undefined
      ? "no limit of its own"
      : `${sent[0]} ${JSON.stringify(sent[1])}, which settings.maxTokens sets`;
  const message = `the vendor cut the reply at a limit of tokens; the request has ${limit}`;
  return { type: "remark", code: "cut_at_limit", message };
}

/** The names under which vendors take a limit of output tokens. */
const limitNames = [
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "maxOutputTokens",
  "maxTokens",
];

/** The cause for a missing address, and for one without a scheme, such as one from the environment. */
export function addressFailure({ url }: Exchange, { baseUrl, missing }: Endpoint): Cause {
  if (baseUrl === "" && missing !== undefined) {
    return failure("bad_request", `there is no address: ${missing}`);
  }
  const message = `the address ${JSON.stringify(withoutLogin(url))} is no URL: begin baseUrl, or the variable that sets it, with http:// or https://`;
  return failure("bad_request", message);
}

/** The cause for an output name that some vendor refuses. It is not renamed, because the model may see it. */
export function nameFailure(name: string): Cause {
  const message = `no vendor takes the output name ${JSON.stringify(name.slice(0, 80))}: use up to 64 letters, digits, "_" and "-", and begin with a letter or "_"`;
  return failure("bad_request", message);
}
