import type { Model } from "@millrace/core";
import { refusal } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import type { Key } from "./auth.ts";
import { checkProvider, keyCheck } from "./check-options.ts";
import { mapRequest } from "./endpoint.ts";
import { sseFraming } from "./framing/sse.ts";
import { expressAuth, expressPlace, placeChecks, placeOf, tokenAuth } from "./google-place.ts";
import type { VertexPlace } from "./google-place.ts";
import type { GeminiSettings } from "./protocols/gemini/fields.ts";
import { geminiProtocol } from "./protocols/gemini/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

export { metadataToken, serviceAccount } from "./service-account.ts";
export type { ServiceAccountKey, TokenOptions } from "./service-account.ts";
export type { VertexPlace } from "./google-place.ts";

/** Options of `vertex`: the project, its location, and a token; or a key of the express mode. */
export interface VertexOptions extends ProviderOptions, VertexPlace {
  /** A key of Vertex AI's express mode, instead of project, location and token. */
  readonly apiKey?: Key | undefined;
  readonly settings?: GeminiSettings | undefined;
}

const own: OptionChecks<VertexPlace & Pick<VertexOptions, "apiKey">> = {
  ...placeChecks,
  apiKey: { ...keyCheck, accepts: (value) => value === undefined || keyCheck.accepts(value) },
};

/** The version that Google's own library asks for. */
const version = "v1beta1";

/** An image arrives in one event. */
const pictures = { limit: 64 * 1024 * 1024 };

/** Vertex has the publisher in the path. Tuned models are `endpoints/<id>`. */
const protocol = mapRequest(geminiProtocol, (wire) => ({
  ...wire,
  path: wire.path.replace(/^\/models\//, "/publishers/google/models/"),
}));

/**
 * A Gemini model of Vertex AI. `token` is asked for each request; the project may be set by
 * `GOOGLE_CLOUD_PROJECT`, the location by `GOOGLE_CLOUD_LOCATION`.
 */
export function vertex(model: string, options: VertexOptions = {}): Model {
  const door = { name: "vertex", from: vertex };
  checkProvider<VertexPlace>(door, { model, options, table: protocol.settings }, own);
  const { project, location, token, baseUrl, apiKey, ...common } = options;
  if (apiKey !== undefined && (project ?? location ?? token) !== undefined) {
    throw refusal(door, "apiKey is for the express mode: leave out project, location and token");
  }
  const place =
    apiKey === undefined
      ? { endpoint: placeOf(options, version), auth: tokenAuth(token) }
      : { endpoint: expressPlace(baseUrl, version), auth: expressAuth(apiKey) };
  return createModel({ ...place, protocol, framing: sseFraming(pictures) }, model, common);
}
