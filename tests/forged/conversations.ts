import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Session } from "@millrace/agent";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { call, countingIds, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

/** What a session came to. */
export interface ConversationResult {
  /** As JSON. What was read from a store may have its fields in another order. */
  readonly transcript: unknown;
  readonly ms: number;
}

export interface ConversationOptions {
  readonly id: string;
  readonly store: SessionStore;
  readonly log: EventLog;
  /** Takes the names of tools as they run. */
  readonly ran: string[];
  /** Called when the session is open and nothing was sent yet. */
  readonly opened?: ((session: Session) => Promise<void>) | undefined;
}

type Reply = Parameters<typeof scriptedModel>[0][number];

/** A scripted session: what the model replies, what people do, and which tools may run. */
export interface Conversation {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly speak: (session: Session) => Promise<unknown>;
  readonly allowed: readonly string[];
}

/** Long enough for a forged answer to arrive, if it were accepted. */
const pauseMs = 25;

/** Waits for a question to be put, and a little longer. */
export async function question(session: Session): Promise<Session["approvals"][number]> {
  for (;;) {
    const [asked] = session.approvals;
    if (asked !== undefined) {
      await sleep(pauseMs);
      return asked;
    }
    await sleep(2);
  }
}

const wiping: readonly Reply[] = [[say("Wiping. "), call("wipe", { path: "/" })], [say("Done.")]];

export const conversations: readonly Conversation[] = [
  {
    name: "plain text",
    replies: [[say("One, two, three.")], [say("Four, five, six.")]],
    speak: async (session) => {
      await session.send("count").result;
      await session.send("go on").result;
    },
    allowed: [],
  },
  {
    name: "a question that is not answered",
    replies: wiping,
    speak: async (session) => {
      const run = session.send("clean up");
      await question(session);
      session.abort("enough");
      await run.result;
    },
    allowed: [],
  },
  {
    name: "a question and a no",
    replies: wiping,
    speak: async (session) => {
      const run = session.send("clean up");
      session.deny((await question(session)).id, "not that");
      await run.result;
    },
    allowed: [],
  },
  {
    name: "a question and a yes",
    replies: wiping,
    speak: async (session) => {
      const run = session.send("clean up");
      session.allow((await question(session)).id);
      await run.result;
    },
    allowed: ["wipe"],
  },
  {
    name: "a client's answer",
    replies: [[call("choose", { of: "colours" })], [say("Blue it is.")]],
    speak: async (session) => {
      const run = session.send("which colour?");
      const { callId } = await run.until("tool_execution_started");
      await sleep(pauseMs);
      session.answer(callId, { text: "blue" });
      await run.result;
    },
    allowed: [],
  },
  {
    name: "a tool that needs no question",
    replies: [[call("look", { path: "/" })], [say("There is nothing.")]],
    speak: (session) => session.send("look").result,
    allowed: ["look"],
  },
];

/** Lives one session to its end. */
export async function runConversation(
  { replies, speak }: Conversation,
  options: ConversationOptions,
): Promise<ConversationResult> {
  const { id, store, log, ran, opened } = options;
  const path = z.object({ path: z.string() });
  const wipe = defineTool({
    name: "wipe",
    input: path,
    approve: "ask",
    run: () => {
      ran.push("wipe");
      return "wiped";
    },
  });
  const look = defineTool({
    name: "look",
    input: path,
    run: () => {
      ran.push("look");
      return "empty";
    },
  });
  const choose = defineTool({
    name: "choose",
    input: z.object({ of: z.string() }),
    output: z.object({ text: z.string() }),
    run: "client",
  });
  const model = scriptedModel([...replies], { delayMs: 1 });
  const agent = defineAgent({ model, tools: [wipe, look, choose] });
  const start = performance.now();
  await using session = await agent.open({ id, store, log, makeId: countingIds() });
  await opened?.(session);
  await speak(session);
  const transcript: unknown = JSON.parse(JSON.stringify(session.transcript));
  return { transcript, ms: performance.now() - start };
}
