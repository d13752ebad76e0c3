import { useChat } from "ai-react-v5";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from "ai-v5";
import { showChat } from "./chat-page.ts";
import type { Library } from "./chat-page.ts";

showChat({
  api: "/agent/ai-sdk-v5",
  useChat: useChat as unknown as Library["useChat"],
  Transport: DefaultChatTransport,
  sendAutomaticallyWhen: (held) => lastAssistantMessageIsCompleteWithToolCalls(held),
});
