import { expect, it, vi } from "vitest";
import { callId, itemId, partId } from "../ids.ts";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import type { Author, Item } from "./item.ts";
import type { Part } from "./part.ts";
import { repairTranscript } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";

vi.setConfig({ testTimeout: patience });

const user = item("u", "user", [{ kind: "text", id: partId("t"), text: "hi" }]);

it.each<[string, number, (size: number) => Transcript]>([
  ["turns with a call that nobody answered", 2_000, turns],
  ["pictures behind one result", 6_000, pictures],
  ["answers in one item", 6_000, answers],
  ["items with one id", 1_000, (size) => Array.from({ length: size }, () => user)],
])("a repair is linear in the number of %s", async (_, least, make) => {
  const ratio = await growth(least, (size) => {
    const items = make(size);
    return () => expect(repairTranscript(items).repairs.length).toBeGreaterThan(0);
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

function turns(size: number): Transcript {
  return Array.from({ length: size }, (_, turn) => [
    item(`m${turn}`, "model", [call(`a${turn}`), call(`b${turn}`)]),
    item(`r${turn}`, "tool", [result(`a${turn}`)]),
  ]).flat();
}

function pictures(size: number): Transcript {
  const url = "https://example.com/picture.png";
  const picture: Part = { kind: "media", id: partId("p"), mediaType: "image/png", url };
  const shown = Array.from({ length: size }, () => picture);
  return [item("m", "model", [call("a")]), user, item("r", "tool", [result("a"), ...shown])];
}

function answers(size: number): Transcript {
  const names = Array.from({ length: size }, (_, at) => `c${at}`);
  return [item("m", "model", names.map(call)), user, item("r", "tool", names.map(result))];
}

function item(id: string, author: Author, parts: readonly Part[]): Item {
  return { id: itemId(id), author, parts, stop: "end" };
}

function call(name: string): Part {
  const id = partId(`c-${name}`);
  return { kind: "tool_call", id, callId: callId(name), tool: "x", raw: "{}", input: {} };
}

function result(name: string): Part {
  const id = partId(`r-${name}`);
  return { kind: "tool_result", id, callId: callId(name), tool: "x", status: "ok", text: "done" };
}
