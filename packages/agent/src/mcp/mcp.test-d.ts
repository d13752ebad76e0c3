// Tools of servers keep the server's name in their type, so they don't blur the types of those that
// stand beside them. Compiled, never run.
import type { Json, JsonObject } from "@millrace/core";
import type { EventOf } from "@millrace/core/reading";
import { z } from "zod";

import { defineTool } from "../definition/tool.ts";
import { openMcp } from "./open-mcp.ts";
import type { McpConnection } from "./open-mcp.ts";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const locate = defineTool({
  name: "locate",
  input: z.object({ near: z.string() }),
  output: z.object({ city: z.string() }),
  run: "client",
});
await using github = await openMcp({ name: "github", url: "https://mcp.example/github" });
await using files = await openMcp({ name: "files", command: ["files-server"] });
const tools = [locate, ...github.tools, ...files.tools] as const;
type Tools = typeof tools;

export const connection: McpConnection<"github"> = github;
export const anyConnections: readonly McpConnection[] = [github, files];
export const nameIsKept: Equal<(typeof github.tools)[number]["name"], `github_${string}`> = true;
export const names: Equal<
  Tools[number]["name"],
  "locate" | `github_${string}` | `files_${string}`
> = true;

declare const event: EventOf<Tools>;

export function city(): string | undefined {
  if (event.type !== "tool_execution_finished") return undefined;
  if (event.tool === "locate") {
    const isExact: Equal<NonNullable<typeof event.output>, { city: string }> = true;
    return isExact ? event.output?.city : undefined;
  }
  const isAnyJson: Equal<typeof event.output, Json | undefined> = true;
  return isAnyJson ? event.tool : undefined;
}

export function near(): unknown {
  if (event.type !== "tool_execution_started") return undefined;
  if (event.tool === "locate") return event.input.near.length;
  const isAnyObject: Equal<typeof event.input, JsonObject> = true;
  return isAnyObject ? event.input["near"] : undefined;
}

// @ts-expect-error a server is either reached or started
void openMcp({ name: "neither" });
// @ts-expect-error another server's tools are not github's
export const wrong: McpConnection<"github"> = files;
