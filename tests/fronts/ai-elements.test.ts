// The messages that the example gives to AI Elements are those that a page with `useChat` loads.
import type { ClientSession } from "@millrace/client";
import { project } from "@millrace/core";
import type { View } from "@millrace/core";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { beforeAll, expect, it } from "vitest";
import { Conversation } from "../../examples/ai-elements/conversation.tsx";
import { messagesOf } from "../../examples/ai-elements/messages.ts";
import { turnMessages } from "../../packages/dialects/src/ai-sdk/encode/history.ts";
import { profiles } from "../../packages/dialects/src/ai-sdk/encode/profiles.ts";
import { storedTurns, watchedSession } from "../dialects/kit/sessions.ts";
import type { WatchedSession } from "../dialects/kit/sessions.ts";
import { runs } from "../kit/runs.ts";
import { recordAll } from "../positions/record-all.ts";

const watched: WatchedSession[] = [];
const blobUrl = (hash: string): string => `/blobs/${hash}`;

beforeAll(async () => {
  for (const recording of await recordAll(runs(150, 20_000, 75)))
    watched.push(await watchedSession(recording));
}, 3_600_000);

interface Held {
  readonly role: string;
  readonly parts: readonly HeldPart[];
}

interface HeldPart extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly parts?: readonly HeldPart[];
  readonly toolCallId?: string;
}

/**
 * Parts by role and in order, without what only one side has: steps, ids of parts that are no calls, and the answer to
 * a question, of which the view has nothing once the call has come to something. A note while a run is on stands in
 * the run's message there, and is a person's message here. A call id that comes again is numbered there.
 */
function comparable({ role, parts }: Held): readonly unknown[] {
  return parts.flatMap((part) => {
    if (part.type === "step-start") return [];
    if (part.type === "steering-message")
      return comparable({ role: "user", parts: part.parts ?? [] });
    const { approval, toolCallId, ...rest }: Partial<HeldPart> = { ...part, id: undefined };
    const call = toolCallId === undefined ? {} : { toolCallId: toolCallId.replace(/~\d+$/, "") };
    const asked = part["state"] === "approval-requested" ? { approval } : {};
    return [{ role, ...call, ...asked, ...rest }];
  });
}

/** As it goes over the wire: without fields that have no value. */
const comparableAll = (messages: unknown): readonly unknown[] =>
  (JSON.parse(JSON.stringify(messages)) as readonly Held[]).flatMap(comparable);

it("for random sessions the messages are those of the history, part by part", () => {
  let parts = 0;
  for (const { seed, uid, sessionId, facts, states } of watched) {
    // The view shows summaries, by which an agent shortens what it sends to its model; the history leaves them out.
    const summaries = facts.map((fact) => "summary" in fact && fact.summary?.itemId);
    const state = states.at(-1);
    const items = state === undefined ? [] : project(state).items;
    const shown = messagesOf(
      items.filter(({ id }) => !summaries.includes(id)) as ClientSession["items"], // tools are known by type only
      blobUrl,
    );
    const options = { uid, sessionId, profile: profiles[7], blobUrl };
    const turns = storedTurns({ uid, sessionId, facts });
    const history = turns.flatMap((turn) => turnMessages(turn, options));
    const mine = comparableAll(shown);
    expect(mine, `session ${seed}`).toEqual(comparableAll(history));
    parts += mine.length;
  }
  console.log(`count: AI Elements, ${watched.length} sessions, ${parts} parts, 0 differences`);
  expect(parts).toBeGreaterThan(watched.length);
});

it("each open question of a session is shown with the buttons that answer it, and no other", () => {
  let questions = 0;
  const isAsking = ({ approvals }: View): boolean => approvals.length > 0;
  for (const { seed, states } of watched) {
    const view = states.map((state) => project(state)).find(isAsking);
    if (view === undefined) continue;
    const session = view as unknown as ClientSession; // all that is shown of it
    const html = renderToStaticMarkup(createElement(Conversation, { session }));
    expect(html.split(">Allow<").length - 1, `session ${seed}`).toBe(view.approvals.length);
    questions += view.approvals.length;
  }
  expect(questions).toBeGreaterThan(10);
});
