// The page of AG-UI that `docs/dialects.md` shows, piece by piece.
import { HttpAgent } from "@ag-ui/client";

/** Opens a conversation, old or new. `base` is where the server is mounted, such as `/agent`. */
export async function openConversation(base: string, threadId: string): Promise<HttpAgent> {
  // #region open
  const agent = new HttpAgent({ url: `${base}/ag-ui`, threadId }); // the session; the first message makes it
  await agent.runAgent(); // all messages so far, and the run that is on
  // #endregion
  return agent;
}

export async function send(agent: HttpAgent, text: string): Promise<void> {
  // #region send
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
  await agent.runAgent();
  // #endregion
}

/** Ends the run for everyone. */
export async function stop(base: string, agent: HttpAgent): Promise<void> {
  // #region stop
  await fetch(`${base}/v1/sessions/${agent.threadId}/abort`, { method: "POST" });
  // #endregion
}

/** Answers all questions alike. */
export async function answerQuestions(agent: HttpAgent, approved: boolean): Promise<void> {
  // #region answer
  const resume = agent.pendingInterrupts.map(({ id }) => ({
    interruptId: id,
    status: "resolved" as const,
    payload: { approved, reason: "said on the page" },
  }));
  await agent.runAgent({ resume });
  // #endregion
}

/** Carries out calls of the page's own tools, whenever a run waits for them. */
export function carryOut(agent: HttpAgent, run: (tool: string) => object): void {
  // #region tools
  agent.subscribe({
    onRunFinishedEvent: (finished) => {
      if (finished.outcome !== "success" || finished.pendingToolCallIds.length === 0) return;
      const calls = finished.messages.flatMap((message) =>
        message.role === "assistant" ? (message.toolCalls ?? []) : [],
      );
      const results = calls
        .filter(({ id }) => finished.pendingToolCallIds.includes(id))
        .map(({ id, function: { name } }) => ({
          id: crypto.randomUUID(),
          role: "tool" as const,
          toolCallId: id,
          content: JSON.stringify(run(name)),
        }));
      return { messages: [...finished.messages, ...results] };
    },
  });
  // #endregion
}
