import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { showChat } from "./chat-page.ts";
import type { Library } from "./chat-page.ts";

showChat({
  api: "/agent/ai-sdk",
  useChat: useChat as unknown as Library["useChat"],
  Transport: DefaultChatTransport,
  sendAutomaticallyWhen: (held) =>
    lastAssistantMessageIsCompleteWithToolCalls(held) ||
    lastAssistantMessageIsCompleteWithApprovalResponses(held),
});
