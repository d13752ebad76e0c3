/** How each vendor's library sends a prompt and reads the reply, over as many connections as it takes. */
import { HttpAgent } from "@ag-ui/client";
import type { ResponseEvent } from "../../../packages/dialects/src/openai/encode/response-writer.ts";
import { openChat } from "./chat.ts";
import type { HeldMessage } from "./chat.ts";
import { HeldResponse } from "./cut-readers.ts";
import { openaiWith } from "./openai.ts";

export interface ReadOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly session: string;
  readonly prompt: string;
  /** A repeat with the same one is the same request. Left out: OpenAI's formats ask anew. */
  readonly key?: string | undefined;
  /** Called with each text of the reply as far as it is shown. */
  readonly onShown: (texts: readonly string[]) => void;
}

/** Returns the texts of the reply. */
export type ReadReply = (options: ReadOptions) => Promise<readonly string[]>;

/** How long a reader waits at most before it comes back: meanwhile the reply may be begun again. */
const pauseMs = 4_000;

/** By the `openai` library. A reader that is told that the reply was begun again drops what it has. */
export const readResponse: ReadReply = async ({ fetch, session, prompt, key, onShown }) => {
  const { responses } = openaiWith((request) => fetch(request));
  let id: string | undefined;
  let held = new HeldResponse();
  for (;;) {
    try {
      const stream =
        id === undefined
          ? await responses.create(
              { input: prompt, conversation: session, background: true, stream: true },
              { headers: keyed(key) },
            )
          : await responses.retrieve(id, {
              stream: true,
              ...(held.last !== undefined && { starting_after: held.last }),
            });
      for await (const event of stream) {
        if (event.type === "response.created") id = event.response.id;
        held.take(event as unknown as ResponseEvent); // the library has a type for each event
        onShown(held.texts.deltas);
        if (event.type !== "response.completed") continue;
        const { deltas, output } = held.texts;
        return JSON.stringify(deltas) === JSON.stringify(output) ? output : [...deltas, ...output];
      }
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === "begun_again") held = new HeldResponse();
    }
    await pause();
  }
};

function keyed(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { "idempotency-key": key };
}

/** By the `openai` library: each request is answered by a message of its own. */
export const readCompletion: ReadReply = async ({ fetch, session, prompt, key, onShown }) => {
  const { chat } = openaiWith((request) => fetch(request));
  for (;;) {
    let text = "";
    try {
      const stream = await chat.completions.create(
        { model: "agent", stream: true, messages: [{ role: "user", content: prompt }] },
        { headers: { "Millrace-Session": session, ...keyed(key) } },
      );
      for await (const { choices } of stream) {
        text += choices[0]?.delta.content ?? "";
        onShown([text]);
        if (choices[0]?.finish_reason === "stop") return [text];
      }
    } catch {
      // It asks again.
    }
    await pause();
  }
};

/** By the `ai` library: a page that was cut loads the messages anew, and resumes. */
export const readAiSdk: ReadReply = async ({ fetch, session, prompt, onShown }) => {
  const onChange = (shown: readonly HeldMessage[]): void => onShown(textsOf(shown.at(-1)));
  const isOurs = ({ role, parts }: HeldMessage): boolean =>
    role === "user" && parts.some(({ text }) => text === prompt);
  for (let messages: readonly HeldMessage[] = []; ;) {
    const chat = openChat(7, { id: session, fetch, messages, onChange });
    if (messages.some(isOurs)) await chat.resumeStream();
    else await chat.sendMessage({ text: prompt });
    const [reply] = chat.messages.slice(chat.messages.findLastIndex(isOurs) + 1);
    // What says how the run ended comes last.
    if (chat.messages.some(isOurs) && reply?.metadata !== undefined) return textsOf(reply);
    await pause();
    const answer = await fetch(`http://localhost/ai-sdk/${session}`).catch(() => undefined);
    if (answer?.ok !== true) continue; // it was lost, or the session is not there yet
    const page = (await answer.json().catch(() => undefined)) as HeldPage | undefined;
    messages = page?.messages ?? messages;
  }
};

interface HeldPage {
  readonly messages: readonly HeldMessage[];
}

/** By the `@ag-ui/client` library: an agent that was cut runs again with all that it holds. */
export const readAgUi: ReadReply = async ({ fetch, session, prompt, onShown }) => {
  const agent = new HttpAgent({ url: "http://localhost/ag-ui", threadId: session, fetch });
  let ends = 0;
  const texts = (): readonly string[] => {
    const asked = agent.messages.findLastIndex(({ content }) => content === prompt);
    return agent.messages
      .slice(asked + 1)
      .flatMap(({ role, content }) =>
        role === "assistant" && typeof content === "string" ? [content] : [],
      );
  };
  agent.subscribe({
    onMessagesChanged: () => onShown(texts()),
    onRunFinishedEvent: () => void (ends += 1),
  });
  await agent.runAgent().catch(() => undefined);
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: prompt });
  for (;;) {
    const before = ends;
    await agent.runAgent().catch(() => undefined);
    if (ends > before) return texts();
    await pause();
  }
};

function textsOf(message: HeldMessage | undefined): readonly string[] {
  if (message?.role !== "assistant") return [];
  return message.parts.flatMap(({ type, text }) => (type === "text" ? [String(text)] : []));
}

function pause(): Promise<void> {
  const ms = pauseMs * Math.random();
  return new Promise((resolve) => setTimeout(resolve, ms));
}
