import type { JsonObject } from "@millrace/core";
import { digest, listAt, objectAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { readSigned, signText } from "../signed-text.ts";
import { betas, pathOf } from "./betas.ts";
import { compactionBlock, typeOf } from "./body.ts";
import type { ClaudeBody } from "./body.ts";
import { checkFields } from "./check-blocks.ts";
import { takesCompaction } from "./models.ts";

const secret = "claude compaction";

/** What a signed summary takes the place of. */
export interface Compaction {
  readonly id: string;
  /** The hash of all that it covers, as thinking behind it was bound to. */
  readonly covered: string;
  /** How many blocks it covers, those of earlier summaries included. */
  readonly count: number;
  readonly system: string;
  readonly tools: string;
  readonly lastRole: string;
  /** The summaries that it covers. */
  readonly earlier: readonly string[];
  /** False if a model without the prefix check wrote it or one before it. */
  readonly keepsThinking: boolean;
}

/** Makes the block of a summary. */
export function signCompaction(content: string, made: Omit<Compaction, "id">): JsonObject {
  const { earlier, ...facts } = made;
  const signature = signText({ ...facts, earlier: [...earlier], content: digest(content) }, secret);
  return { type: "compaction", content, signature };
}

/** Checks the summary at the start of a request and returns what it covers. */
export function readCompaction(body: ClaudeBody): Compaction | undefined {
  const blocks = body.messages.flatMap((message) =>
    message.blocks.map((block, at) => ({ block, path: pathOf(message, at) })),
  );
  const found = blocks.filter(({ block }) => typeOf(block) === "compaction");
  if (found.length > 1) refuse("messages: at most one `compaction` block may be provided");
  const only = found[0];
  if (only === undefined) return undefined;
  const { block, path } = only;
  if (compactionBlock(body) !== block) {
    refuse(`${path}: the \`compaction\` block must come first in \`messages\``, {
      code: "compaction_block_misplaced",
    });
  }
  const signature = textAt(block, "signature");
  if (signature === undefined) {
    return refuse(`${path}: a \`compaction\` block with \`content\` requires its \`signature\``);
  }
  const signed = readSigned(signature, secret);
  if (signed === undefined) {
    return refuse(`${path}: Invalid \`signature\` in \`compaction\` block`, {
      code: "compaction_signature_invalid",
    });
  }
  const { id, data } = signed;
  if (data["content"] !== digest(textAt(block, "content") ?? "")) {
    refuse(`${path}: \`compaction\` block \`content\` does not match its \`signature\``, {
      code: "compaction_content_mismatch",
    });
  }
  return {
    id,
    covered: textAt(data, "covered") ?? "",
    count: Number(data["count"]),
    system: textAt(data, "system") ?? "",
    tools: textAt(data, "tools") ?? "",
    lastRole: textAt(data, "lastRole") ?? "",
    earlier: listAt(data, "earlier").map(String),
    keepsThinking: data["keepsThinking"] === true,
  };
}

/** Checks a request for a summary. */
export function checkCompactionRequest({ fields, model, betas: sent, messages }: ClaudeBody): void {
  const compaction = objectAt(fields, "compaction");
  if (compaction === undefined) return;
  if (!sent.has(betas.compaction)) {
    refuse(`compaction: the \`compaction\` parameter requires anthropic-beta: ${betas.compaction}`);
  }
  if (!takesCompaction(model)) refuse("compaction: not supported on this model");
  checkFields(compaction, "type instructions?", "compaction");
  if (compaction["type"] !== "summarize") {
    refuse("compaction.type: Input should be 'summarize'");
  }
  if ((textAt(compaction, "instructions") ?? "").length > 16_384) {
    refuse("compaction.summarize.instructions: String should have at most 16384 characters");
  }
  const choice = textAt(objectAt(fields, "tool_choice"), "type");
  const others = {
    context_management: fields["context_management"] !== undefined,
    stop_sequences: fields["stop_sequences"] !== undefined,
    "output_config.format": objectAt(fields, "output_config")?.["format"] !== undefined,
    tool_choice: choice === "any" || choice === "tool",
  };
  for (const [name, isSet] of Object.entries(others)) {
    if (isSet) refuse(`compaction: cannot be combined with \`${name}\``);
  }
  if (messages.every(({ role, blocks }) => role === "system" || blocks.length === 0)) {
    refuse("compaction: `messages` has nothing to summarize", {
      code: "compaction_nothing_to_summarize",
    });
  }
}
