import { MillraceError } from "@millrace/core";
import type { Model } from "@millrace/core";
import type { ModelRequest, Reply } from "@millrace/core/ports";

/** Asks the model, and waits for the whole reply. Throws if it was cut short or filtered. */
export async function wholeReply(model: Model, request: ModelRequest): Promise<Reply> {
  const reply = await model.stream(request).result;
  const { stop, cause } = reply;
  if (cause !== undefined) {
    const code = stop === "aborted" ? "aborted" : "provider_failed";
    throw new MillraceError(code, `${cause.code}: ${cause.message}`);
  }
  if (stop === "filtered")
    throw new MillraceError("provider_failed", "the vendor's filter ended the reply");
  return reply;
}
