import { refuse } from "../refusal.ts";
import type { ClaudeBody, ClaudeMessage } from "./body.ts";
import type { Platform } from "./models.ts";

/** The betas that the rules depend on. */
export const betas = {
  binding: "thinking-binding-controls-2026-08-01",
  clearAt: "mid-conversation-system-clear-at-2026-08-21",
  effort: "mid-conversation-output-config-2026-07-01",
  toolsByReference: "mid-conversation-tool-changes-2026-07-01",
  toolsByValue: "inline-tools-2026-09-15",
  compaction: "compact-2026-09-04",
} as const;

/** Betas that exist on the Claude API and not on Bedrock. */
const notOnBedrock: readonly string[] = [betas.effort, betas.toolsByValue, betas.compaction];

/** Refuses a request that names a beta to which the account has no access. */
export function checkBetas(
  sent: readonly string[],
  platform: Platform,
  refused: readonly string[],
): void {
  const unknown = sent.filter(
    (beta) => refused.includes(beta) || (platform === "bedrock" && notOnBedrock.includes(beta)),
  );
  if (unknown.length === 0) return;
  if (platform === "bedrock") refuse("invalid beta flag");
  const names = unknown.map((beta) => `\`${beta}\``).join(", ");
  refuse(
    `Unexpected value(s) ${names} for the \`anthropic-beta\` header. Please consult our documentation at platform.claude.com/docs or try again without the header.`,
  );
}

/** True if tools may be added and removed in messages. */
export function takesToolChanges({ betas: sent }: ClaudeBody): boolean {
  return sent.has(betas.toolsByReference) || sent.has(betas.toolsByValue);
}

export function pathOf({ at }: ClaudeMessage, block?: number): string {
  return block === undefined ? `messages.${at}` : `messages.${at}.content.${block}`;
}
