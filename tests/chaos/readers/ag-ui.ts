import { HttpAgent } from "@ag-ui/client";
import { patientFetch } from "./patient-fetch.ts";
import { comeBack, isAnswer } from "./reader.ts";
import type { DialectReader, ReaderPlace } from "./reader.ts";

/** A page of AG-UI. After a cut it runs its agent again. */
export function agUiReader({ url, session }: ReaderPlace): DialectReader {
  const agent = new HttpAgent({
    url: `${url}/ag-ui`,
    threadId: session,
    headers: { authorization: "Bearer ann" },
    // 1.0.0 cancels a body that failed without looking at the outcome, which ends the process.
    fetch: patientFetch({ endsAtCut: true }),
  });
  const ask: DialectReader["ask"] = async (key, content) => {
    agent.addMessage({ id: key, role: "user", content });
    for (;;) {
      await agent.runAgent().catch(() => undefined); // cut off, or refused: it comes back
      const last = agent.messages.at(-1);
      const text =
        last?.role === "assistant" && typeof last.content === "string" ? last.content : "";
      if (isAnswer(text, key)) return text;
      await comeBack();
    }
  };
  return { name: "ag-ui", ask };
}
