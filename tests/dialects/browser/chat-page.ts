import { createElement, useEffect, useState } from "react";
import type { ReactElement } from "react";
import { createRoot } from "react-dom/client";

/** What `useChat` gives, as far as all versions have it. */
interface Chat {
  readonly messages: readonly object[];
  readonly status: string;
  readonly error: Error | undefined;
  readonly sendMessage: (message: object) => Promise<void>;
  readonly resumeStream: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly addToolOutput?: (output: object) => Promise<void>;
  readonly addToolResult: (output: object) => Promise<void>;
  readonly addToolApprovalResponse?: (answer: object) => Promise<void>;
}

/** One version of the library. */
export interface Library {
  readonly api: string;
  readonly useChat: (options: object) => Chat;
  readonly Transport: new (options: object) => object;
  readonly sendAutomaticallyWhen: (held: never) => boolean;
}

/** What a test sees of the page, and does in it. */
export interface PageWindow {
  shown: { status: string; error: string | undefined; messages: readonly object[] };
  chat: Chat;
}

/** The smallest page with `useChat`: it loads its messages, and resumes what is being written. */
export function showChat({ api, useChat, Transport, sendAutomaticallyWhen }: Library): void {
  const id = location.hash.slice(1);
  const transport = new Transport({ api });
  const own = globalThis as unknown as PageWindow;

  function Talk({ messages }: { readonly messages: readonly object[] }): ReactElement {
    const options = { id, messages, transport, sendAutomaticallyWhen, resume: true };
    const chat = useChat({
      ...options,
      onToolCall: ({ toolCall }: { readonly toolCall: Record<string, string> }) => {
        const { toolCallId, toolName: tool } = toolCall;
        if (tool !== "place") return;
        void (chat.addToolOutput ?? chat.addToolResult)({
          tool,
          toolCallId,
          output: { city: "Oslo" },
        });
      },
    });
    own.chat = chat;
    own.shown = { status: chat.status, error: chat.error?.message, messages: chat.messages };
    return createElement("pre", undefined, JSON.stringify(chat.messages));
  }

  function Loaded(): ReactElement | undefined {
    const [messages, setMessages] = useState<readonly object[]>();
    useEffect(() => {
      void fetch(`${api}/${id}`)
        .then((answer) => (answer.ok ? answer.json() : { messages: [] }))
        .then((loaded: { readonly messages: readonly object[] }) => setMessages(loaded.messages));
    }, []);
    return messages && createElement(Talk, { messages });
  }

  createRoot(document.querySelector("#root") ?? document.body).render(createElement(Loaded));
}
