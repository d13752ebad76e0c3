import type { JsonObject } from "@millrace/core";
import type { ComputerSettings, VendorTool } from "@millrace/core/model";
import type { NativeTool } from "../../protocol.ts";

/**
 * The names of the vendor's own tools, by the types of the items that are their calls. These items have
 * no name of a tool; the names are ours.
 */
export const nativeItems: ReadonlyMap<string, string> = new Map([
  ["computer_call", "computer"],
  ["shell_call", "shell"],
  ["local_shell_call", "shell"],
  ["apply_patch_call", "apply_patch"],
  ["mcp_approval_request", "mcp_approval"],
]);

/**
 * The vendor's own tool, by what it documents for its models:
 * https://developers.openai.com/api/docs/guides/tools. A model that is not known to have it gets a function.
 */
export function nativeTool(tool: VendorTool, model: string): NativeTool | undefined {
  const name = model.replace(/^.*\//, "");
  const isForced = tool.native === true;
  switch (tool.kind) {
    case "computer": {
      if (name.startsWith("computer-use-preview")) return named("computer", previewOf(tool));
      const has = isForced || isFrom(name, 4);
      return has ? named("computer", { type: "computer" }) : undefined;
    }
    case "shell": {
      if (name.startsWith("codex-mini")) return named("shell", { type: "local_shell" });
      const has = isForced || isFrom(name, 1);
      return has ? named("shell", { type: "shell", environment: { type: "local" } }) : undefined;
    }
    case "apply_patch": {
      const has = isForced || isFrom(name, 1);
      return has ? named("apply_patch", { type: "apply_patch" }) : undefined;
    }
    case "mcp_approval":
      return named("mcp_approval");
    case "text_editor":
    case "memory":
      return undefined;
    default:
      return tool satisfies never;
  }
}

function named(name: string, declaration?: JsonObject): NativeTool {
  return declaration === undefined ? { names: [name] } : { names: [name], declaration };
}

function previewOf({ width, height, environment = "browser" }: ComputerSettings): JsonObject {
  return {
    type: "computer_use_preview",
    display_width: width,
    display_height: height,
    environment,
  };
}

/** True for GPT-5 from this minor version on, and for later ones. Chat models have no such tools. */
function isFrom(name: string, minor: number): boolean {
  const [, major = "", least = "0"] = /^gpt-(\d+)(?:\.(\d+))?/.exec(name) ?? [];
  if (major === "" || /-chat/.test(name)) return false;
  return Number(major) > 5 || (Number(major) === 5 && Number(least) >= minor);
}
