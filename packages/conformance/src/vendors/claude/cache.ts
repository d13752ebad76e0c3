import type { JsonObject } from "@millrace/core";
import { canonical, digest, objectAt, textAt, tokensOf } from "../json.ts";
import { pathOf } from "./betas.ts";
import { signedTokens } from "./binding.ts";
import { isCleared, isEffortOnly, isThinking } from "./body.ts";
import type { ClaudeBody } from "./body.ts";
import { markOf } from "./marks.ts";
import type { CacheTtl } from "./marks.ts";
import { thinksByDefault } from "./models.ts";

/** How many blocks a mark looks back for a prefix that was written before, itself included. */
const lookBack = 20;

const ttlMs: Readonly<Record<CacheTtl, number>> = { "5m": 300_000, "1h": 3_600_000 };

/** Input tokens of a request, by how they are billed. */
export interface ClaudeCharge {
  readonly plain: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
}

/** One block of the prompt: the hash and the tokens of all up to it. */
interface Position {
  readonly hash: string;
  readonly tokens: number;
  readonly mark: CacheTtl | undefined;
}

interface Entry {
  readonly expires: number;
  readonly ttl: CacheTtl;
}

/** The prefixes that marks have written, by their chained hashes. */
export class ClaudeCache {
  readonly #least: number;
  readonly #entries = new Map<string, Entry>();

  constructor(least: number) {
    this.#least = least;
  }

  /** Reads and writes the cache for a request. `dropped` are the blocks that the model doesn't read. */
  charge(body: ClaudeBody, dropped: ReadonlySet<string>, now: number): ClaudeCharge {
    const positions = positionsOf(body, dropped);
    const hit = this.#longest(positions, now);
    const read = hit === undefined ? 0 : hit.tokens;
    if (hit !== undefined) this.#store(hit.hash, this.#entries.get(hit.hash)?.ttl ?? "5m", now);
    let [write5m, write1h, end] = [0, 0, read];
    for (const { hash, tokens, mark } of positions) {
      if (mark === undefined || tokens < this.#least) continue;
      this.#store(hash, mark, now);
      if (tokens <= end) continue;
      if (mark === "1h") write1h += tokens - end;
      else write5m += tokens - end;
      end = tokens;
    }
    return { plain: (positions.at(-1)?.tokens ?? 0) - end, read, write5m, write1h };
  }

  #longest(positions: readonly Position[], now: number): Position | undefined {
    let found: Position | undefined;
    for (const [at, { mark }] of positions.entries()) {
      if (mark === undefined) continue;
      for (let back = at; back > at - lookBack && back >= 0; back--) {
        const position = positions[back];
        if (position === undefined || (this.#entries.get(position.hash)?.expires ?? 0) <= now) {
          continue;
        }
        found = position;
        break;
      }
    }
    return found;
  }

  /** Stores a prefix, or renews it for the longer of the two times. */
  #store(hash: string, ttl: CacheTtl, now: number): void {
    const before = this.#entries.get(hash);
    const isLong =
      ttl === "1h" || (before !== undefined && before.expires > now && before.ttl === "1h");
    const longer = isLong ? "1h" : "5m";
    this.#entries.set(hash, { expires: now + ttlMs[longer], ttl: longer });
  }
}

/** The blocks of a prompt in the order in which they are hashed: tools, system, messages. */
function positionsOf(body: ClaudeBody, dropped: ReadonlySet<string>): readonly Position[] {
  const { fields, model, tools, system, messages } = body;
  const output = objectAt(fields, "output_config") ?? {};
  const declared = tools.filter(({ defer_loading: deferred }) => deferred !== true);
  const isChanged = messages.some(({ blocks }) =>
    blocks.some(({ type }) => type === "tool_addition"),
  );
  const positions: Position[] = [];
  // The first tool changes the start of the prompt, also if a message adds it.
  const hasTools = declared.length > 0 || isChanged;
  let hash = digest(
    canonical([model.name, hasTools, output["effort"] ?? null, output["format"] ?? null]),
  );
  let tokens = 0;
  const add = (block: JsonObject, role: string, size: number): void => {
    hash = digest(`${hash} ${role} ${canonical(block, "cache_control")}`);
    tokens += size;
    positions.push({ hash, tokens, mark: markOf(block) });
  };
  for (const tool of declared) add(tool, "tool", sizeOf(tool));
  for (const block of system) add(block, "system prompt", sizeOf(block));
  hash = digest(
    `${hash} ${canonical([isThinkingOn(body), fields["tool_choice"] ?? null, hasImages(body)])}`,
  );
  for (const message of messages) {
    if (isCleared(message, body)) continue;
    const { role, fields: own, blocks } = message;
    if (isEffortOnly(message)) add({ effort: own["output_config"] ?? null }, role, 0);
    for (const [at, block] of blocks.entries()) {
      if (dropped.has(pathOf(message, at))) continue;
      add(block, role, isThinking(block) ? signedTokens(block) : sizeOf(block));
    }
  }
  return fields["cache_control"] === undefined ? positions : withAutomaticMark(body, positions);
}

function sizeOf(block: JsonObject): number {
  return tokensOf(canonical(block, "cache_control"));
}

function isThinkingOn({ fields, model }: ClaudeBody): boolean {
  const type = textAt(objectAt(fields, "thinking"), "type");
  return type === undefined ? thinksByDefault(model) : type !== "disabled";
}

function hasImages({ messages }: ClaudeBody): boolean {
  return messages.some(({ blocks }) => blocks.some(({ type }) => type === "image"));
}

/** A mark of the whole request is on its last block, or on the one before messages for this turn only. */
function withAutomaticMark(
  { fields, messages }: ClaudeBody,
  positions: readonly Position[],
): readonly Position[] {
  const skipped = messages
    .slice(messages.findLastIndex(({ isTurnScoped }) => !isTurnScoped) + 1)
    .reduce((sum, { blocks }) => sum + blocks.length, 0);
  const mark = objectAt(fields, "cache_control")?.["ttl"] === "1h" ? "1h" : "5m";
  const last = positions.length - 1 - skipped;
  return positions.map((position, at) => (at === last ? { ...position, mark } : position));
}
