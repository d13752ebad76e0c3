import type { Json, JsonObject } from "@millrace/core";
import type { ComputerSettings, VendorTool } from "@millrace/core/model";
import type { NativeTool } from "../../protocol.ts";
import { keysIn } from "../keys.ts";
import { objectAt, textAt } from "../read.ts";

/**
 * The vendor's computer, which is a browser with predefined functions. Its functions for other
 * environments are not documented with their arguments, so these get an ordinary function. The vendor has
 * no other tool that the caller runs. From https://ai.google.dev/gemini-api/docs/computer-use.
 */
export function nativeTool(tool: VendorTool, model: string): NativeTool | undefined {
  if (tool.kind !== "computer" || (tool.environment ?? "browser") !== "browser") return undefined;
  if (tool.native !== true && !hasComputer(model)) return undefined;
  return {
    // Calls that another vendor wrote go under the first, which is no function of this one.
    names: ["computer", ...functions.keys()],
    declaration: { computerUse: { environment: "ENVIRONMENT_BROWSER" } },
    read: (input, name) => computerInput(input, name, tool),
  };
}

function hasComputer(model: string): boolean {
  return /(?:^|\/)gemini-(?:2\.5-computer-use|3(?:\.\d+)?-(?:flash|pro)(?!-(?:image|lite|live)))/.test(
    model,
  );
}

type Read = (input: JsonObject, screen: ComputerSettings) => JsonObject | undefined;

/** The predefined functions. Their coordinates and lengths are thousandths of the screen. */
const functions: ReadonlyMap<string, Read> = new Map<string, Read>([
  ["open_web_browser", () => ({ action: "open_browser" })],
  ["search", () => ({ action: "search" })],
  ["go_back", () => ({ action: "back" })],
  ["go_forward", () => ({ action: "forward" })],
  ["wait_5_seconds", () => ({ action: "wait", seconds: 5 })],
  [
    "navigate",
    (input) => {
      const url = textAt(input, "url");
      return url === undefined ? undefined : { action: "navigate", url };
    },
  ],
  [
    "click_at",
    (input, screen) => {
      const place = placeOf(input["x"], input["y"], screen);
      return place && { action: "click", ...place };
    },
  ],
  [
    "hover_at",
    (input, screen) => {
      const place = placeOf(input["x"], input["y"], screen);
      return place && { action: "move", ...place };
    },
  ],
  [
    "type_text_at",
    (input, screen) => {
      const place = placeOf(input["x"], input["y"], screen);
      const text = textAt(input, "text");
      if (place === undefined || text === undefined) return undefined;
      // The vendor's defaults for both are true.
      const { press_enter: enter = true, clear_before_typing: clear = true } = input;
      return { action: "type", ...place, text, clear: clear === true, enter: enter === true };
    },
  ],
  [
    "key_combination",
    (input) => {
      const keys = textAt(input, "keys");
      return keys === undefined ? undefined : { action: "key", keys: keysIn(keys) };
    },
  ],
  [
    "scroll_document",
    (input, { width, height }) => scrolled(input["direction"], width * 0.8, height * 0.8),
  ],
  [
    "scroll_at",
    (input, screen) => {
      const place = placeOf(input["x"], input["y"], screen);
      const { magnitude = 800, direction } = input;
      if (place === undefined || typeof magnitude !== "number") return undefined;
      const [dx, dy] = [share(magnitude, screen.width), share(magnitude, screen.height)];
      const scroll = scrolled(direction, dx, dy);
      return scroll && { ...scroll, ...place };
    },
  ],
  [
    "drag_and_drop",
    (input, screen) => {
      const from = placeOf(input["x"], input["y"], screen);
      const to = placeOf(input["destination_x"], input["destination_y"], screen);
      return from && to && { action: "drag", path: [from, to] };
    },
  ],
]);

function computerInput(
  input: JsonObject,
  name: string,
  screen: ComputerSettings,
): JsonObject | undefined {
  const action = functions.get(name)?.(input, screen);
  if (action === undefined) return undefined;
  const decision = objectAt(input, "safety_decision");
  if (decision === undefined) return { actions: [action] };
  const [code, message] = [textAt(decision, "decision"), textAt(decision, "explanation")];
  const check = {
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
  };
  return { actions: [action], checks: [check] };
}

/** True if the vendor wants to know that a person has allowed the call. */
export function wantsConfirmation(input: JsonObject): boolean {
  return objectAt(input, "safety_decision") !== undefined;
}

function placeOf(
  x: Json | undefined,
  y: Json | undefined,
  { width, height }: ComputerSettings,
): JsonObject | undefined {
  if (typeof x !== "number" || typeof y !== "number") return undefined;
  return { x: share(x, width), y: share(y, height) };
}

function share(thousandths: number, length: number): number {
  return Math.round((thousandths / 1_000) * length);
}

function scrolled(direction: Json | undefined, dx: number, dy: number): JsonObject | undefined {
  const [across, down] = [Math.round(dx), Math.round(dy)];
  switch (direction) {
    case "up":
      return { action: "scroll", dx: 0, dy: -down };
    case "down":
      return { action: "scroll", dx: 0, dy: down };
    case "left":
      return { action: "scroll", dx: -across, dy: 0 };
    case "right":
      return { action: "scroll", dx: across, dy: 0 };
    default:
      return undefined;
  }
}
