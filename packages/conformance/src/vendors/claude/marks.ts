import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { objectAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { pathOf } from "./betas.ts";
import type { ClaudeBody } from "./body.ts";

/** How long a marked prefix is cached. */
export type CacheTtl = "5m" | "1h";

/** The mark of a block or a tool: its own, or one inside it, such as in a definition or a result. */
export function markOf(block: JsonObject): CacheTtl | undefined {
  const own = block["cache_control"];
  if (isJsonObject(own)) return own["ttl"] === "1h" ? "1h" : "5m";
  const definition = objectAt(objectAt(block, "tool"), "definition");
  const content = block["type"] === "tool_result" ? block["content"] : undefined;
  const inner: readonly Json[] = [
    ...(definition === undefined ? [] : [definition]),
    ...(Array.isArray(content) ? (content as readonly Json[]) : []),
  ];
  for (const value of inner) {
    const mark = isJsonObject(value) ? value["cache_control"] : undefined;
    if (isJsonObject(mark)) return mark["ttl"] === "1h" ? "1h" : "5m";
  }
  return undefined;
}

/** Checks the number, the fields and the order of the marks. */
export function checkMarks({ fields, tools, system, messages }: ClaudeBody): void {
  const found: { readonly path: string; readonly mark: JsonObject }[] = [];
  const visit = (value: Json, path: string): void => {
    if (!isJsonObject(value)) return;
    const mark = value["cache_control"];
    if (isJsonObject(mark)) found.push({ path: `${path}.cache_control`, mark });
    if (value["type"] === "tool_result" && Array.isArray(value["content"])) {
      (value["content"] as readonly Json[]).forEach((inner, at) => {
        visit(inner, `${path}.content.${at}`);
      });
    }
    const definition = objectAt(objectAt(value, "tool"), "definition");
    if (definition !== undefined) visit(definition, `${path}.tool.definition`);
  };
  tools.forEach((tool, at) => visit(tool, `tools.${at}`));
  system.forEach((block, at) => visit(block, `system.${at}`));
  for (const message of messages) {
    message.blocks.forEach((block, at) => visit(block, pathOf(message, at)));
  }
  const own = objectAt(fields, "cache_control");
  if (own !== undefined) found.push({ path: "cache_control", mark: own });
  if (found.length > 4) {
    refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${found.length}.`);
  }
  let isShort = false;
  for (const { path, mark } of found) {
    checkMark(mark, path);
    if (isShort && mark["ttl"] === "1h") {
      refuse(
        `${path}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
      );
    }
    isShort ||= mark["ttl"] !== "1h";
  }
}

function checkMark(mark: JsonObject, path: string): void {
  if (mark["type"] !== "ephemeral") refuse(`${path}.type: Input should be 'ephemeral'`);
  for (const key of Object.keys(mark)) {
    if (key !== "type" && key !== "ttl") {
      refuse(`${path}.ephemeral.${key}: Extra inputs are not permitted`);
    }
  }
  const ttl = mark["ttl"];
  if (ttl === undefined || ttl === "5m" || ttl === "1h") return;
  refuse(`${path}.ephemeral.ttl: Input should be '5m' or '1h'`);
}
