// The types of settings: shared ones are checked, vendors' own are checked too, and other fields are open.
// Compiled, never run. The pages about settings show parts of it.
import { itemId, partId } from "@millrace/core/writing";
// #region settings
import { anthropic } from "@millrace/providers/anthropic";
import { openai } from "@millrace/providers/openai";
import type { ModelSettings } from "@millrace/core/ports";

const careful: ModelSettings = { maxTokens: 4_000, effort: "high", cache: true };

const claude = anthropic("claude-sonnet-5", { settings: { ...careful, speed: "fast" } });
const gpt = openai("gpt-5.6-sol", { settings: { ...careful, text: { verbosity: "low" } } });
// #endregion
import type { Item } from "@millrace/core";
import type { ProviderOptions } from "./provider.ts";
import { gemini } from "./gemini.ts";

// #region part
import type { PartOptions } from "@millrace/core/ports";

const part = {
  kind: "media",
  id: partId("p1"),
  mediaType: "image/png",
  url: "openai:file-abc", // a file that the vendor keeps
  metadata: { options: { detail: "low" } satisfies PartOptions },
} as const;
// #endregion

const transcript: Item[] = [{ id: itemId("i1"), author: "user", parts: [part], stop: "end" }];
gpt.stream({ transcript, settings: { toolChoice: "none", stop: ["\n\n"], top_logprobs: 3 } });
claude.stream({ transcript, settings: { thinking: { type: "adaptive" }, cache: { ttl: "1h" } } });

// @ts-expect-error -- no such effort
gpt.stream({ transcript, settings: { effort: "hgih" } });
// @ts-expect-error -- a shared setting is not of a vendor's form
gemini("gemini-3-pro", { settings: { stop: { texts: [] } } });
// @ts-expect-error -- a field of the vendor with a wrong value
anthropic("claude-sonnet-5", { settings: { speed: "faster" } });
// @ts-expect-error -- a field inside of a vendor's field
openai("gpt-5", { settings: { reasoning: { effort: "hgih" } } });
gemini("gemini-3-pro", { settings: { generationConfig: { topK: 3 }, laterField: { a: [1] } } });

declare const common: ProviderOptions;
anthropic("claude-sonnet-5", common);
gemini("gemini-3-pro", common);
openai("gpt-5", common);
