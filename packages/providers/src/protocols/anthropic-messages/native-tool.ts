import type { JsonObject } from "@millrace/core";
import type { ComputerSettings, TextEditorSettings, VendorTool } from "@millrace/core/model";
import type { NativeTool } from "../../protocol.ts";
import { bashInput, computerInput } from "./native-input.ts";

/** Versions of the vendor's own tools. */
interface Versions {
  readonly computer: "20251124" | "20250124";
  readonly editor: "20250728" | "20250124";
  readonly memory: boolean;
}

/**
 * The newest versions that each model takes. The first pattern that matches counts. Older models, and
 * other vendors' behind this API, get functions. From https://platform.claude.com/docs/en/agents-and-tools.
 */
const versions: readonly (readonly [model: RegExp, versions: Versions | undefined])[] = [
  [
    /claude-3[-.]7(?!\d)|claude-sonnet-3[-.]7/,
    { computer: "20250124", editor: "20250124", memory: false },
  ],
  [/claude-(?:instant|v?[123])(?!\d)/, undefined],
  [
    /claude-(?:sonnet-4|opus-4)(?![-.][2-9](?!\d))(?!\d)|claude-(?:haiku|sonnet)-4[-.]5(?!\d)/,
    { computer: "20250124", editor: "20250728", memory: true },
  ],
  [/claude-/, { computer: "20251124", editor: "20250728", memory: true }],
];

/** For `native: true` with a model whose name is not known. */
const newest: Versions = { computer: "20251124", editor: "20250728", memory: true };

export function nativeTool(tool: VendorTool, model: string): NativeTool | undefined {
  const known = versions.find(([pattern]) => pattern.test(model))?.[1];
  const found = known ?? (tool.native === true ? newest : undefined);
  if (found === undefined) return undefined;
  switch (tool.kind) {
    case "computer":
      return computer(tool, found.computer);
    case "shell": {
      const declaration = { type: "bash_20250124", name: "bash" };
      return { names: ["bash"], declaration, read: bashInput };
    }
    case "text_editor":
      return editor(tool, found.editor);
    case "memory": {
      if (!found.memory && tool.native !== true) return undefined;
      return { names: ["memory"], declaration: { type: "memory_20250818", name: "memory" } };
    }
    case "apply_patch":
    case "mcp_approval":
      return undefined;
    default:
      return tool satisfies never;
  }
}

function computer(
  { width, height, zoom = false }: ComputerSettings,
  version: Versions["computer"],
): NativeTool {
  const isNewest = version === "20251124";
  const declaration: JsonObject = {
    type: `computer_${version}`,
    name: "computer",
    display_width_px: width,
    display_height_px: height,
    ...(zoom && isNewest ? { enable_zoom: true } : {}),
  };
  const betas = [isNewest ? "computer-use-2025-11-24" : "computer-use-2025-01-24"];
  return { names: ["computer"], declaration, betas, read: computerInput };
}

function editor(
  { maxCharacters }: TextEditorSettings,
  version: Versions["editor"],
): NativeTool | undefined {
  if (version === "20250728") {
    const name = "str_replace_based_edit_tool";
    const most = maxCharacters === undefined ? {} : { max_characters: maxCharacters };
    return { names: [name], declaration: { type: `text_editor_${version}`, name, ...most } };
  }
  // This version has no limit of characters. As a function it loses nothing.
  if (maxCharacters !== undefined) return undefined;
  const name = "str_replace_editor";
  return { names: [name], declaration: { type: `text_editor_${version}`, name } };
}
