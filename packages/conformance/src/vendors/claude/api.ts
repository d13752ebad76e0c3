import type { JsonObject } from "@millrace/core";
import { objectAt, textAt } from "../json.ts";
import type { Ledger } from "../ledger.ts";
import { replySize } from "../reply-size.ts";
import type { AcceptedRequest, PlainReply, StrictVendorOptions } from "../vendor.ts";
import { betas, checkBetas } from "./betas.ts";
import { checkBinding, signThinking } from "./binding.ts";
import type { BindingContext } from "./binding.ts";
import { isCleared, readClaudeBody, typeOf } from "./body.ts";
import type { ClaudeBody } from "./body.ts";
import { ClaudeCache } from "./cache.ts";
import { checkBlocks, checkSystemPrompt } from "./check-blocks.ts";
import { checkRequest } from "./check-request.ts";
import { checkMessageFields, checkSystemPlaces } from "./check-system.ts";
import { checkTurns } from "./check-turns.ts";
import { checkCompactionRequest, readCompaction, signCompaction } from "./compaction.ts";
import { checkMarks } from "./marks.ts";
import { checksPrefix } from "./models.ts";
import type { Platform } from "./models.ts";
import { prefixOf } from "./prefix.ts";
import { replyBlocks, stopReason } from "./reply.ts";
import type { ClaudeReply } from "./reply.ts";
import { checkToolChanges } from "./tool-changes.ts";

/** A request in Anthropic's own fields, however it came. */
export interface ClaudeRequest {
  readonly fields: JsonObject;
  readonly model: string;
  readonly betas: readonly string[];
}

/** The rules and the cache of Claude, for one account on one platform. */
export class ClaudeApi {
  readonly #platform: Platform;
  readonly #options: StrictVendorOptions;
  readonly #ledger: Ledger;
  readonly #cache: ClaudeCache;
  #accepted = 0;

  constructor(platform: Platform, options: StrictVendorOptions, ledger: Ledger) {
    this.#platform = platform;
    this.#options = options;
    this.#ledger = ledger;
    this.#cache = new ClaudeCache(options.leastCached ?? 1024);
  }

  /** Checks a request, bills it, and makes the reply. Throws the refusal of a request that breaks a rule. */
  respond(
    { fields, model, betas: sent }: ClaudeRequest,
    script: (request: AcceptedRequest) => PlainReply,
  ): ClaudeReply {
    const { account = "account", enforce = true, refuses = [], now } = this.#options;
    checkBetas(sent, this.#platform, refuses);
    const body = readClaudeBody(fields, { model, platform: this.#platform, betas: sent });
    const tools = check(body);
    const compaction = readCompaction(body);
    const prefix = prefixOf(body, compaction);
    const owner = `${this.#platform} ${account}`;
    const context = { body, prefix, compaction, account: owner, enforce };
    const { dropped, transformations, previous } = checkBinding(context);
    this.#ledger.dropped.push(...dropped);
    const charge = this.#cache.charge(body, new Set(dropped.map(({ path }) => path)), now());
    const { plain, read, write5m, write1h } = charge;
    this.#ledger.charge({ plain, read, write: write5m + write1h });
    this.#accepted += 1;
    const id = String(this.#accepted).padStart(4, "0");
    const scripted = script(acceptedRequest(body, { number: this.#accepted, tools }));
    const wantsSummary = fields["compaction"] !== undefined;
    const { thinking, written } = replySize(scripted);
    const signature = signThinking(context, { previous, think: scripted.think ?? true });
    return {
      id,
      model,
      blocks: wantsSummary
        ? [summaryBlock(context, scripted.text ?? "Summary.")]
        : replyBlocks(scripted, { id, signature }),
      stop: wantsSummary ? "compaction" : stopReason(scripted),
      charge,
      outputTokens: thinking + written,
      transformations: body.betas.has(betas.binding) ? transformations : undefined,
    };
  }
}

/** All checks but those of signatures. Returns the names of the tools that are offered. */
function check(body: ClaudeBody): readonly string[] {
  checkRequest(body);
  checkSystemPrompt(body);
  for (const message of body.messages) {
    checkMessageFields(body, message);
    checkBlocks(body, message);
  }
  checkMarks(body);
  checkCompactionRequest(body);
  checkSystemPlaces(body);
  checkTurns(body);
  return checkToolChanges(body);
}

/** The summary of all messages of a request, bound to what they were. */
function summaryBlock({ body, prefix, compaction }: BindingContext, content: string): JsonObject {
  return signCompaction(content, {
    covered: prefix.chain.at(-1) ?? "",
    count: prefix.first + prefix.units.length,
    system: prefix.system,
    tools: prefix.tools,
    lastRole: body.messages.at(-1)?.role ?? "",
    earlier: compaction === undefined ? [] : [...compaction.earlier, compaction.id],
    keepsThinking: checksPrefix(body.model, body.platform),
  });
}

function acceptedRequest(
  body: ClaudeBody,
  { number, tools }: { readonly number: number; readonly tools: readonly string[] },
): AcceptedRequest {
  const { fields, model, system, messages, lastUser } = body;
  const appended = messages.filter((each) => each.role === "system" && !isCleared(each, body));
  const instructions = textOf([...system, ...appended.flatMap(({ blocks }) => blocks)]);
  const last = messages[lastUser]?.blocks ?? [];
  const format = objectAt(fields, "output_config")?.["format"];
  return {
    number,
    model: model.name,
    instructions,
    lastUserText: textOf(last),
    answersCalls: last.some((block) => typeOf(block) === "tool_result"),
    tools,
    wantsJson: format !== undefined || instructions.includes("JSON Schema"),
    wantsSummary: fields["compaction"] !== undefined,
    body: fields,
  };
}

function textOf(blocks: readonly JsonObject[]): string {
  return blocks.flatMap((block) => textAt(block, "text") ?? []).join("\n");
}
