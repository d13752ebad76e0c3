import { useChat } from "ai-react-v6";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai-v6";
import { showChat } from "./chat-page.ts";
import type { Library } from "./chat-page.ts";

showChat({
  api: "/agent/ai-sdk-v6",
  useChat: useChat as unknown as Library["useChat"],
  Transport: DefaultChatTransport,
  sendAutomaticallyWhen: (held) =>
    lastAssistantMessageIsCompleteWithToolCalls(held) ||
    lastAssistantMessageIsCompleteWithApprovalResponses(held),
});
