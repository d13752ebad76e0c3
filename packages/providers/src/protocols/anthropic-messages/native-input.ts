import type { Json, JsonObject } from "@millrace/core";
import { keysIn } from "../keys.ts";
import { listAt, textAt } from "../read.ts";

/** The portable input of the vendor's shell. */
export function bashInput({ command, restart }: JsonObject): JsonObject | undefined {
  if (restart === true) {
    return { commands: typeof command === "string" ? [command] : [], restart: true };
  }
  return typeof command === "string" ? { commands: [command] } : undefined;
}

/** The portable input of the vendor's computer, which performs one action in each call. */
export function computerInput(input: JsonObject): JsonObject | undefined {
  const action = actionOf(input);
  return action === undefined ? undefined : { actions: [action] };
}

/** The vendor's clicks: the button, and how often it is pressed. */
const clicks: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["left_click", { button: "left" }],
  ["right_click", { button: "right" }],
  ["middle_click", { button: "middle" }],
  ["double_click", { button: "left", times: 2 }],
  ["triple_click", { button: "left", times: 3 }],
]);

/** Pixels to the right and down of one step of a wheel. */
const steps: ReadonlyMap<string, readonly [dx: number, dy: number]> = new Map([
  ["up", [0, -100]],
  ["down", [0, 100]],
  ["left", [-100, 0]],
  ["right", [100, 0]],
]);

function actionOf(input: JsonObject): JsonObject | undefined {
  const name = textAt(input, "action") ?? "";
  const place = placeAt(input, "coordinate");
  const text = textAt(input, "text");
  const { duration } = input;
  const seconds = typeof duration === "number" ? { seconds: duration } : {};
  const held = text === undefined || text === "" ? {} : { keys: keysIn(text) };
  const click = clicks.get(name);
  if (click !== undefined) return { action: "click", ...place, ...click, ...held };
  switch (name) {
    case "screenshot":
    case "cursor_position":
      return { action: name };
    case "mouse_move":
      return place && { action: "move", ...place, ...held };
    case "left_mouse_down":
      return { action: "mouse_down", ...place };
    case "left_mouse_up":
      return { action: "mouse_up", ...place };
    case "left_click_drag": {
      const start = placeAt(input, "start_coordinate");
      const path = [start, place].filter((point) => point !== undefined);
      return place && { action: "drag", path, ...held };
    }
    case "scroll": {
      const [dx, dy] = steps.get(textAt(input, "scroll_direction") ?? "") ?? [];
      const amount = input["scroll_amount"];
      if (dx === undefined || dy === undefined || typeof amount !== "number") return undefined;
      return { action: "scroll", ...place, dx: dx * amount, dy: dy * amount, ...held };
    }
    case "type":
      return text === undefined ? undefined : { action: "type", text };
    case "key":
    case "hold_key":
      return text === undefined ? undefined : { action: "key", keys: keysIn(text), ...seconds };
    case "wait":
      return { action: "wait", ...seconds };
    case "zoom": {
      const [left, top, right, bottom] = listAt(input, "region");
      const [from, to] = [pointOf(left, top), pointOf(right, bottom)];
      return from && to && { action: "zoom", from, to };
    }
    default:
      return undefined;
  }
}

function placeAt(input: JsonObject, key: string): JsonObject | undefined {
  const [x, y] = listAt(input, key);
  return pointOf(x, y);
}

function pointOf(x: Json | undefined, y: Json | undefined): JsonObject | undefined {
  return typeof x === "number" && typeof y === "number" ? { x, y } : undefined;
}
