import { openChat } from "../../dialects/kit/chat.ts";
import type { HeldChat, HeldMessage } from "../../dialects/kit/chat.ts";
import { patientFetch } from "./patient-fetch.ts";
import { comeBack, isAnswer } from "./reader.ts";
import type { DialectReader, ReaderPlace } from "./reader.ts";

/** A page of the AI SDK 7. After a cut it is loaded anew with the history, and resumes. */
export function aiSdkReader({ url, session: id }: ReaderPlace): DialectReader {
  const send = patientFetch();
  // The kit's pages name an origin of their own.
  const fetch = ((address: string, init?: RequestInit) =>
    send(address.replace("http://localhost", url), init)) as typeof globalThis.fetch;
  let page = openChat(7, { id, fetch });
  const ask: DialectReader["ask"] = async (key, text) => {
    await page.sendMessage({ text });
    while (page.error !== undefined || !isAnswer(lastText(page), key)) {
      await comeBack();
      const messages = await historyOf(fetch, id);
      if (messages === undefined) continue;
      page = openChat(7, { id, fetch, messages });
      if (messages.some((message) => textOf(message) === text)) await page.resumeStream();
      else await page.sendMessage({ text });
    }
    return lastText(page);
  };
  return { name: "ai-sdk", ask };
}

async function historyOf(
  fetch: typeof globalThis.fetch,
  id: string,
): Promise<readonly HeldMessage[] | undefined> {
  try {
    const headers = { authorization: "Bearer ann" };
    const answer = await fetch(`http://localhost/ai-sdk/${id}`, { headers });
    if (!answer.ok) return undefined;
    return ((await answer.json()) as { readonly messages: readonly HeldMessage[] }).messages;
  } catch {
    return undefined; // the web is away
  }
}

function lastText({ messages }: HeldChat): string {
  const last = messages.at(-1);
  return last?.role === "assistant" ? textOf(last) : "";
}

function textOf({ parts }: HeldMessage): string {
  return parts.map((part) => (part.type === "text" ? String(part["text"]) : "")).join("");
}
