import { expect, it } from "vitest";
import { callId, partId } from "../ids.ts";
import { batch, deltas, empty, opening } from "../testing/session.ts";
import { apply } from "./apply.ts";
import { previewOf } from "./preview.ts";
import { project } from "./project.ts";
import type { SessionState } from "./state.ts";
import type { ViewToolCall } from "./view.ts";

const id = partId("p1");

/** A state in which a call has begun. */
function begun(): SessionState {
  const begin = { op: "begin_part", partId: id, kind: "tool_call" } as const;
  const first = deltas({ ...begin, callId: callId("c1"), tool: "book" });
  return apply(empty, batch([opening, ...first])).state;
}

function written(state: SessionState, number: number, chunk: string): SessionState {
  const append = deltas({ op: "append_text", partId: id, chunk });
  return apply(state, batch(append, { first: number })).state;
}

function callIn(state: SessionState): ViewToolCall & { readonly state: "writing" } {
  const part = project(state).items.at(-1)?.parts[0];
  if (part?.kind === "tool_call" && part.state === "writing") return part;
  throw new Error("no call is being written");
}

it("the arguments of a call are shown as they come, whatever was read before, and an older view shows less", () => {
  const states = [begun()];
  const text = `{"city":"Bergen","nights":12,"stops":[{"at":"${"Flåm ".repeat(900)}"}]}`;
  for (let at = 0; at < text.length; at += 7) {
    const last = states.at(-1) as SessionState;
    states.push(written(last, states.length + 1, text.slice(at, at + 7)));
  }
  const views = states.map(callIn);
  const read = views.map((view) => previewOf(view));

  expect(read[0]).toEqual({});
  expect(read[2]).toEqual({ city: "Berge" });
  expect(read[4]).toEqual({ city: "Bergen" });
  expect(read[5]).toEqual({ city: "Bergen", nights: 12 });
  expect(read.at(-1)).toEqual(JSON.parse(text));
  expect(previewOf(views[2] as ViewToolCall & { state: "writing" })).toEqual({ city: "Berge" });
  expect(previewOf({ ...(views.at(-1) as ViewToolCall & { state: "writing" }) })).toEqual(
    read.at(-1),
  );
  expect(previewOf(callIn(states.at(-1) as SessionState))).toBe(read.at(-1));
});

it("what a view is made of is in no copy and no text of it", () => {
  const view = callIn(written(begun(), 2, '{"city":"B'));

  expect(Reflect.ownKeys({ ...view })).toEqual(Reflect.ownKeys(view));
  expect(Object.values(view)).not.toContainEqual(expect.objectContaining({ settled: "" }));
});
