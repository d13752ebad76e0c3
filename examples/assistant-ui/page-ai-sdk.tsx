// The same thread over the AI SDK's `useChat` and our dialect of its format: the way for a page that has `useChat`.
// It has no queue, and Stop is a request of its own; see the README.
import { useChat } from "@ai-sdk/react";
import type { UIMessage } from "@ai-sdk/react";
import { AssistantRuntimeProvider } from "@assistant-ui/react";
import { useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { createRoot } from "react-dom/client";
import type { ReactNode } from "react";
import { Thread } from "./thread.tsx";

if (location.hash === "") location.replace(`#${crypto.randomUUID()}`);
const id = location.hash.slice(1);
const transport = new DefaultChatTransport({ api: "/agent/ai-sdk" });

function Page({ messages }: { readonly messages: UIMessage[] }): ReactNode {
  const chat = useChat({
    id,
    messages,
    transport,
    resume: true,
    sendAutomaticallyWhen: (held) =>
      lastAssistantMessageIsCompleteWithToolCalls(held) ||
      lastAssistantMessageIsCompleteWithApprovalResponses(held),
  });
  const stop = async (): Promise<void> => {
    await fetch(`/agent/v1/sessions/${id}/abort`, { method: "POST" });
    await chat.stop();
  };
  const runtime = useAISDKRuntime({ ...chat, stop });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Thread />
    </AssistantRuntimeProvider>
  );
}

const answer = await fetch(`/agent/ai-sdk/${id}`);
// A session that is not there yet is made by its first message.
const { messages } = (answer.ok ? await answer.json() : { messages: [] }) as {
  readonly messages: UIMessage[];
};
createRoot(document.querySelector("#root") ?? document.body).render(<Page messages={messages} />);
