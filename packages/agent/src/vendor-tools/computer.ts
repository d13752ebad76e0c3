import { isJsonObject } from "@millrace/core/wire";
import { expects } from "@millrace/core/checks";
import type { Json, JsonObject } from "@millrace/core";
import type { ComputerInput, ComputerSettings } from "@millrace/core/model";
import type { Issue } from "@millrace/core/schema";
import { defineTool } from "../definition/tool.ts";
import type { Tool, ToolAttachment } from "../definition/tool.ts";
import { checkSettings, flagCheck, pixelsCheck, sharedSettings } from "./settings.ts";
import type { RunVendorTool, VendorToolSettings } from "./settings.ts";
import {
  flag,
  listOf,
  number,
  oneOf,
  recordOf,
  schemaFrom,
  text,
  unionIssues,
  unionSchema,
} from "./variants.ts";
import type { Union } from "./variants.ts";

/** What a computer shows after the actions. */
export interface ComputerResult {
  /** The screen, by its bytes. Vendors want one after every call. PNG if the type is left out. */
  readonly screenshot?: (Omit<ToolAttachment, "mediaType"> & Partial<ToolAttachment>) | undefined;
  /** The address of the page in a browser. */
  readonly url?: string | undefined;
  readonly text?: string | undefined;
}

/** The settings of `computerTool`. */
export interface ComputerToolOptions
  extends VendorToolSettings<ComputerInput>, Omit<ComputerSettings, "kind"> {
  /** Performs the actions in their order. */
  readonly run: RunVendorTool<ComputerInput, ComputerResult>;
}

/**
 * A screen, a mouse and a keyboard for a model. Asks before each call unless `approve` is given; calls
 * with safety checks of the vendor are asked for in any case, and running one acknowledges them.
 */
export function computerTool(
  options: ComputerToolOptions,
): Tool<string, ComputerInput, ComputerAnswer> {
  checkSettings("computerTool", computerTool, options, {
    width: pixelsCheck,
    height: pixelsCheck,
    zoom: expects.optional(flagCheck),
    environment: expects.optional(expects.oneOf("browser", "mac", "windows", "linux")),
  });
  const { run, width, height, environment, zoom, native, limits } = options;
  const shared = sharedSettings<ComputerInput>(options, {
    name: "computer",
    description: `Sees and uses a computer by its screen, mouse and keyboard. The screen has ${width} × ${height} pixels.`,
    approve: "ask",
  });
  return defineTool({
    ...shared,
    // A model may look at a screen that does not change more often than it repeats other calls.
    limits: { repeats: 20, ...limits },
    approve: async (input, session) => {
      const { approve } = shared;
      const own = typeof approve === "function" ? await approve(input, session) : approve;
      return own === "allow" && (input.checks ?? []).length > 0 ? "ask" : own;
    },
    vendor: { kind: "computer", width, height, environment, zoom, native },
    input: schemaFrom<ComputerInput>(computerSchema(zoom === true), computerIssues),
    run: async (input, execution): Promise<ComputerAnswer> => {
      const { screenshot, url, text: words } = await run(input, execution);
      if (screenshot !== undefined) execution.attach({ mediaType: "image/png", ...screenshot });
      if (url === undefined) return words;
      return { url, ...(words === undefined ? {} : { text: words }) };
    },
  });
}

/** What a program gets of a call: what the computer gave beside its picture. */
type ComputerAnswer = { readonly url: string; readonly text?: string } | string | undefined;

const point = recordOf({ x: number("pixels from the left"), y: number("pixels from the top") });
const at = ["x", "y"];

const actions: Union = {
  tag: "action",
  fields: {
    x: number("pixels from the left"),
    y: number("pixels from the top"),
    button: oneOf("left if absent", ["left", "right", "middle", "back", "forward"]),
    times: number("2 for a double click"),
    keys: listOf("as KeyboardEvent.key has them, such as Control, Enter, a", text("a key")),
    path: listOf("the way of the mouse", point),
    from: point,
    to: point,
    dx: number("pixels to the right; one step of a wheel is 100"),
    dy: number("pixels down; one step of a wheel is 100"),
    text: text("the text to type"),
    clear: flag("empty the field first"),
    enter: flag("press Enter behind the text"),
    seconds: number("how long"),
    url: text("the address to go to"),
  },
  variants: {
    screenshot: {},
    zoom: { required: ["from", "to"] },
    move: { required: at, optional: ["keys"] },
    click: { optional: [...at, "button", "times", "keys"] },
    mouse_down: { optional: at },
    mouse_up: { optional: at },
    drag: { required: ["path"], optional: ["keys"] },
    scroll: { required: ["dx", "dy"], optional: [...at, "keys"] },
    type: { required: ["text"], optional: [...at, "clear", "enter"] },
    key: { required: ["keys"], optional: ["seconds"] },
    wait: { optional: ["seconds"] },
    cursor_position: {},
    open_browser: {},
    search: {},
    back: {},
    forward: {},
    navigate: { required: ["url"] },
  },
};

/** Checks of the vendor are not in it: a model does not write them. */
function computerSchema(zooms: boolean): JsonObject {
  const { zoom, ...others } = actions.variants;
  const variants = zooms && zoom !== undefined ? { ...others, zoom } : others;
  return {
    type: "object",
    properties: {
      actions: {
        type: "array",
        items: unionSchema({ ...actions, variants }),
        description: "performed in this order; a screenshot is taken behind the last",
      },
    },
    required: ["actions"],
  };
}

function computerIssues(value: unknown): readonly Issue[] {
  if (!isJsonObject(value)) return [{ message: "must be an object" }];
  const { actions: given, checks = [] }: JsonObject = value;
  if (!Array.isArray(given) || given.length === 0) {
    return [{ message: "must be a list of one action or more", path: ["actions"] }];
  }
  if (!Array.isArray(checks) || !checks.every((check: Json) => isJsonObject(check))) {
    return [{ message: "must be a list of objects", path: ["checks"] }];
  }
  return given.flatMap((each: Json, index) => unionIssues(actions, each, ["actions", index]));
}
