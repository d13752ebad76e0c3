import type { JsonObject } from "@millrace/core";
import { canonical, digest, textAt } from "../json.ts";
import { pathOf } from "./betas.ts";
import { isThinking, typeOf } from "./body.ts";
import type { ClaudeBody } from "./body.ts";
import type { Compaction } from "./compaction.ts";
import { referencesOf } from "./tool-changes.ts";

/** One block that later thinking is bound to. */
interface Unit {
  readonly digest: string;
  readonly path: string;
}

/** A thinking block, and the number of units before it. */
export interface ThinkingAt {
  readonly block: JsonObject;
  readonly path: string;
  readonly units: number;
}

/** All that thinking in a request is bound to: values, and not marks, key order or other thinking. */
export interface Prefix {
  readonly system: string;
  readonly tools: string;
  /** The number of blocks that a summary took the place of. */
  readonly first: number;
  readonly units: readonly Unit[];
  /** The hash of everything before the first unit, and behind each unit. */
  readonly chain: readonly string[];
  readonly thinking: readonly ThinkingAt[];
}

/** Hashes a request from its start, or from the summary that it begins with. */
export function prefixOf(body: ClaudeBody, compaction: Compaction | undefined): Prefix {
  const system = digest(canonical([...body.system], "cache_control"));
  const now = body.tools.filter(({ defer_loading: deferred }) => deferred !== true);
  const later = new Map(
    body.tools
      .filter((tool) => !now.includes(tool))
      .map((tool) => [textAt(tool, "name") ?? "", canonical(tool, "cache_control")]),
  );
  const tools = digest(
    now
      .map((tool) => canonical(tool, "cache_control"))
      .toSorted()
      .join("\n"),
  );
  const units: Unit[] = [];
  const chain = [startOf(body, { system, tools }, compaction)];
  const thinking: ThinkingAt[] = [];
  for (const message of body.messages) {
    const { role, isTurnScoped } = message;
    for (const [at, block] of message.blocks.entries()) {
      const path = pathOf(message, at);
      if (isThinking(block)) thinking.push({ block, path, units: units.length });
      if (isThinking(block) || typeOf(block) === "compaction") continue;
      // A deferred tool counts from the first block that refers to it.
      const loaded = referencesOf(block).map((name) => later.get(name) ?? "");
      const value = canonical(block, "cache_control");
      const unit = { digest: digest(`${role} ${isTurnScoped} ${value} ${loaded.join(" ")}`), path };
      units.push(unit);
      chain.push(digest(`${chain.at(-1)} ${unit.digest}`));
    }
  }
  return { system, tools, first: compaction?.count ?? 0, units, chain, thinking };
}

/**
 * A summary continues the hash of the messages that it covers, so that thinking in the kept turns
 * stays valid. The conditions are the vendor's: the same instructions and tools, models that check,
 * and a first kept message that the vendor doesn't merge into the last covered one.
 */
function startOf(
  body: ClaudeBody,
  { system, tools }: Pick<Prefix, "system" | "tools">,
  compaction: Compaction | undefined,
): string {
  if (compaction === undefined) return digest(`${system} ${tools}`);
  const [first, second] = body.messages;
  const kept = (first?.blocks.length ?? 0) > 1 ? first : second;
  const isMerged = kept?.role === compaction.lastRole || kept?.role === "system";
  const isSame = compaction.system === system && compaction.tools === tools;
  return isSame && !isMerged && compaction.keepsThinking
    ? compaction.covered
    : digest(`${system} ${tools} ${compaction.id}`);
}
