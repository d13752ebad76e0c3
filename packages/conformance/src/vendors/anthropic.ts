import { ClaudeApi } from "./claude/api.ts";
import { claudeEvents } from "./claude/reply.ts";
import { readObject, textAt } from "./json.ts";
import { createVendor, Ledger } from "./ledger.ts";
import { refuse } from "./refusal.ts";
import { eventResponse, namedEvents } from "./sse.ts";
import type { StrictVendor, StrictVendorOptions, VendorHttpRequest } from "./vendor.ts";

/**
 * Anthropic's Messages API. Binds thinking to what stands before it, checks system messages, tool
 * changes, marks, pairs of calls and results, and betas, and bills the prompt cache.
 */
export function strictAnthropic(options: StrictVendorOptions): StrictVendor {
  const ledger = new Ledger();
  const api = new ClaudeApi("api", options, ledger);
  return createVendor({
    ledger,
    respond: (request, reply) => {
      const [path = ""] = request.path.split("?");
      if (!path.endsWith("/v1/messages")) refuse("Not Found", { status: 404 });
      const fields = readObject(request.body);
      const model = textAt(fields, "model") ?? refuse("model: Field required");
      if (fields["stream"] !== true) refuse("stream: this stand-in streams its replies only");
      const sent = { fields, model, betas: headerList(request, "anthropic-beta") };
      return eventResponse(namedEvents(claudeEvents(api.respond(sent, reply))));
    },
    encodeError: ({ message, status, code }) => ({
      body: {
        type: "error",
        error: {
          type: status === 404 ? "not_found_error" : "invalid_request_error",
          message,
          ...(code === undefined ? {} : { details: { error_code: code } }),
        },
        request_id: `req_${ledger.refused.length}`,
      },
    }),
  });
}

/** The values of a header, whether they came in one line or in several. */
function headerList({ headers }: VendorHttpRequest, name: string): readonly string[] {
  const value = headers[name];
  const lines = typeof value === "string" ? [value] : (value ?? []);
  return lines
    .flatMap((line) => line.split(","))
    .map((each) => each.trim())
    .filter((each) => each !== "");
}
