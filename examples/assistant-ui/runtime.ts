// A session of ours as a runtime of assistant-ui: what it shows comes from the session's view, and what a person
// does becomes a call of the session. Nothing is kept here, so a refresh, a second tab and a cut line need no care.
import { useExternalStoreRuntime } from "@assistant-ui/react";
import type {
  AppendMessage,
  AssistantRuntime,
  AttachmentAdapter,
  ExternalThreadQueueAdapter,
} from "@assistant-ui/react";
import type { ClientSession } from "@millrace/client";
import type { Content, Sent } from "@millrace/core/reading";
import { messageOf } from "./messages.ts";

/** What a person sent and the server, or the session, does not take. */
export type OnRefused = (reason: Error) => void;

/** The runtime of a session that `useSession` gives. */
export function useMillraceRuntime(
  session: ClientSession,
  options: { readonly onRefused: OnRefused },
): AssistantRuntime {
  const { onRefused } = options;
  const { items, status, loading } = session;
  return useExternalStoreRuntime({
    messages: items,
    convertMessage: messageOf,
    isRunning: status !== "idle",
    isLoading: loading,
    queue: queueOf(session, onRefused),
    adapters: { attachments },
    // Called for what is not queued: assistant-ui gives all else to the queue.
    onNew: (message) => stored(session.send(contentOf(message))),
    onCancel: () => stored(session.abort()),
    onRespondToToolApproval: ({ approvalId, approved, reason }) =>
      stored(approved ? session.allow(approvalId) : session.deny(approvalId, reason)),
    onAddToolResult: ({ toolCallId, result, isError }) =>
      stored(
        isError
          ? session.fail(toolCallId, typeof result === "string" ? result : JSON.stringify(result))
          : session.answer(toolCallId, result),
      ),
  });
}

/** Resolves once it is stored; a refusal becomes an error, which assistant-ui leaves to its caller. */
async function stored({ accepted }: Sent): Promise<void> {
  const acceptance = await accepted;
  if (!acceptance.accepted) throw acceptance.error;
}

/** The session's queue: prompts for later runs, and notes for the one that is on. */
function queueOf(session: ClientSession, onRefused: OnRefused): ExternalThreadQueueAdapter {
  const itemsOf = (isSteer: boolean): ExternalThreadQueueAdapter["items"] =>
    session.queue
      .filter(({ kind }) => (kind === "steer") === isSteer)
      .map(({ id, text }) => ({ id, prompt: text, parts: [{ type: "text", text }] }));
  const attempt = (send: () => Sent): void =>
    // A function that throws is a refusal too: what it was given can't be sent.
    void new Promise<void>((resolve) => resolve(stored(send()))).catch(onRefused);
  const keep = (): void =>
    onRefused(new Error("what waits keeps its text and its place; take it back and send it anew"));
  return {
    items: itemsOf(false),
    steerItems: itemsOf(true),
    enqueue: (message) => attempt(() => session.send(contentOf(message))),
    steer: (message) => attempt(() => session.steer(contentOf(message))),
    remove: (inputId) => attempt(() => session.takeBack(inputId)),
    move: keep,
    edit: keep,
  };
}

/** Text and files as they are sent. Throws for a part that no session takes. */
function contentOf({ content, attachments = [] }: AppendMessage): Content {
  const texts = content.map((part) => {
    if (part.type === "text") return part.text;
    throw new TypeError(`a message takes text and files, not a part of type ${part.type}`);
  });
  const files = attachments.map(({ file, name }) => {
    if (file !== undefined) return file;
    throw new TypeError(`the attachment ${name} has no file; attach it anew`);
  });
  return [...texts, ...files];
}

/** Files of any type, sent as they are. */
const attachments: AttachmentAdapter = {
  accept: "*",
  add: ({ file }) =>
    Promise.resolve({
      id: crypto.randomUUID(),
      type: "file",
      name: file.name,
      contentType: file.type,
      file,
      status: { type: "requires-action", reason: "composer-send" },
    }),
  send: (attachment) =>
    Promise.resolve({ ...attachment, status: { type: "complete" }, content: [] }),
  remove: () => Promise.resolve(),
};
