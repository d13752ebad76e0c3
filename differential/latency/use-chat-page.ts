import { Chat, useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import type { UIMessage } from "ai";
import { createElement } from "react";
import type { ReactElement } from "react";
import { createRoot } from "react-dom/client";
import { install, take } from "./probe.ts";

const chat = new Chat<UIMessage>({ transport: new DefaultChatTransport({ api: "/api/chat" }) });

function replyIn(messages: readonly UIMessage[]): string {
  const last = messages.at(-1)?.parts.at(-1);
  return last?.type === "text" ? last.text : "";
}

function Talk(): ReactElement {
  return createElement("p", { id: "reply" }, replyIn(useChat({ chat }).messages));
}

// What `useChat` itself is told by.
chat["~registerMessagesCallback"](() => take(replyIn(chat.messages)));
createRoot(document.querySelector("#root") ?? document.body).render(createElement(Talk));
install(() => void chat.sendMessage({ text: "Go" }));
