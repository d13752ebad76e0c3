import type { JsonObject } from "@millrace/core";
import { objectAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { thinkingTokens } from "../reply-size.ts";
import { readSigned, signText } from "../signed-text.ts";
import type { DroppedThinking } from "../vendor.ts";
import { betas } from "./betas.ts";
import { typeOf } from "./body.ts";
import type { ClaudeBody } from "./body.ts";
import type { Compaction } from "./compaction.ts";
import { checksPrefix, claudeModel, isAccountBound, readsThinking } from "./models.ts";
import type { Prefix, ThinkingAt } from "./prefix.ts";

const secret = "claude thinking";

/** The part of each unit's hash that a signature repeats, to name the first block that differs. */
const shortLength = 4;

/** A request, the account that sends it, and what it is bound to. */
export interface BindingContext {
  readonly body: ClaudeBody;
  readonly prefix: Prefix;
  readonly compaction: Compaction | undefined;
  readonly account: string;
  /** Whether the prefix check is enforced for requests that don't ask for it. */
  readonly enforce: boolean;
}

/** What becomes of the thinking in a request. */
export interface BindingResult {
  readonly dropped: readonly DroppedThinking[];
  /** The entries of `input_transformations`. */
  readonly transformations: readonly JsonObject[];
  /** The last block that a new one follows, empty if there is none. */
  readonly previous: string;
}

/** Signs a new thinking block at the end of a request. */
export function signThinking(
  { body, prefix, compaction, account }: BindingContext,
  { previous, think }: { readonly previous: string; readonly think: string | true },
): string {
  const { system, tools, first, units, chain } = prefix;
  return signText(
    {
      prefix: chain.at(-1) ?? "",
      system,
      tools,
      first,
      units: units.map(({ digest }) => digest.slice(0, shortLength)).join(""),
      previous,
      compaction: compaction?.id ?? "",
      model: body.model.name,
      account,
      tokens: thinkingTokens(think),
    },
    secret,
  );
}

/** The tokens of a thinking block, whether or not its text is there. */
export function signedTokens(block: JsonObject): number {
  return Number(readSigned(signatureOf(block), secret)?.data["tokens"] ?? 0);
}

function signatureOf(block: JsonObject): string {
  return textAt(block, "signature") ?? textAt(block, "data") ?? "";
}

/** Checks all thinking blocks in order: signature, account, model, then what stands before them. */
export function checkBinding(context: BindingContext): BindingResult {
  const { body, prefix, account } = context;
  const behaviour = behaviourOf(context);
  const dropped: DroppedThinking[] = [];
  const transformations: JsonObject[] = [];
  let [previous, isBroken] = ["", false];
  for (const [at, thinking] of prefix.thinking.entries()) {
    const { block, path } = thinking;
    const signed = readSigned(signatureOf(block), secret);
    const fault = `${path}: Invalid \`signature\` in \`${typeOf(block)}\` block`;
    if (signed === undefined) return refuse(fault);
    const { id, data } = signed;
    const drop = (reason: string): void => {
      dropped.push({ path, reason });
      transformations.push({ type: "thinking_dropped", path, reason });
    };
    const writer = claudeModel(textAt(data, "model") ?? "");
    if (isAccountBound(writer, body.platform) && data["account"] !== account) {
      drop("organization_binding_mismatch");
    } else if (!readsThinking(body.model, writer, body.platform)) {
      drop("model_binding_mismatch");
    } else if (checksPrefix(body.model, body.platform)) {
      const follows = at === 0 || data["previous"] === previous;
      const isValid = !isBroken && follows && isUnchanged(context, thinking, data);
      if (!isValid && behaviour === "error") {
        refuse(`${fault}. ${advice(body)}${changeOf(context, thinking, data)}`);
      }
      if (!isValid && behaviour === "drop_block") {
        // Blocks behind a dropped one are invalid too. A new block follows the last one that was kept.
        isBroken = true;
        drop("prefix_binding_mismatch");
        continue;
      }
      if (!isValid) {
        const reason = "prefix_binding_mismatch";
        transformations.push({ type: "thinking_mismatch_allowed", path, reason });
      }
    }
    previous = id;
  }
  return { dropped, transformations, previous };
}

function behaviourOf({ body, enforce }: BindingContext): string {
  const binding = objectAt(objectAt(body.fields, "thinking"), "block_binding");
  const given = textAt(binding, "prefix_mismatch_behavior");
  return given ?? (enforce ? "error" : "allow");
}

/** True if what stands before a block is what stood there when it was made. */
function isUnchanged(
  { prefix, compaction }: BindingContext,
  { units }: ThinkingAt,
  data: JsonObject,
): boolean {
  if (data["prefix"] !== prefix.chain[units]) return false;
  // Thinking behind a summary is bound to that summary, or to a later one that covers it.
  const made = textAt(data, "compaction") ?? "";
  if (made === "" || made === compaction?.id) return true;
  return compaction?.earlier.includes(made) === true;
}

function advice({ betas: sent }: ClaudeBody): string {
  const text =
    'The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
  if (sent.has(betas.binding)) return text;
  return `${text} That setting requires the \`${betas.binding}\` value in the \`anthropic-beta\` header.`;
}

/** The sentence that names what changed, if it can be found. */
function changeOf({ prefix }: BindingContext, { units }: ThinkingAt, data: JsonObject): string {
  if (data["system"] !== prefix.system) {
    return " The `system` prompt differs from the one this block was created with.";
  }
  if (data["tools"] !== prefix.tools) {
    return " The `tools` list differs from the one this block was created with.";
  }
  const signed = textAt(data, "units") ?? "";
  const shift = (prefix.first - Number(data["first"])) * shortLength;
  const changed = prefix.units.slice(0, units).find(({ digest }, at) => {
    const start = shift + at * shortLength;
    return signed.slice(start, start + shortLength) !== digest.slice(0, shortLength);
  });
  if (changed === undefined || shift < 0) return "";
  return ` Content before this block differs from when it was created, first at \`${changed.path}\`.`;
}
