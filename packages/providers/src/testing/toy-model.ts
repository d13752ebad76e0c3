import type { Delta, Model } from "@millrace/core";
import type { ModelNotice, Reply } from "@millrace/core/ports";
import { sseFraming } from "../framing/sse.ts";
import type { VendorEvent } from "../framing/framing.ts";
import { createModel } from "../provider.ts";
import type { ProviderOptions, ProviderParts } from "../provider.ts";
import { toyProtocol } from "./toy.ts";
import type { ToyState } from "./toy.ts";

/** A model that uses the toy protocol with the server at an address. */
export function toyModel(
  baseUrl: string,
  options: ProviderOptions = {},
  parts: Partial<ProviderParts<VendorEvent, ToyState>> = {},
): Model {
  const auth = (): Record<string, string> => ({ authorization: "Bearer k" });
  const endpoint = { baseUrl };
  const own = { protocol: toyProtocol, framing: sseFraming(), endpoint, auth };
  return createModel({ ...own, ...parts }, "small", options);
}

export interface Answer {
  readonly reply: Reply;
  readonly deltas: readonly Delta[];
  readonly notices: readonly ModelNotice[];
}

/** Sends a request and reads the whole stream. */
export async function ask(model: Model, signal?: AbortSignal): Promise<Answer> {
  const notices: ModelNotice[] = [];
  const notify = (notice: ModelNotice): void => void notices.push(notice);
  const stream = model.stream({ transcript: [], signal, notify });
  const deltas: Delta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return { reply: await stream.result, deltas, notices };
}

/** The toy protocol's events for the reply "Hello". */
export const hello = 'data: {"say":"Hel"}\n\ndata: {"say":"lo"}\n\ndata: {"end":true}\n\n';
