import OpenAI, { APIError } from "openai";
import { comeBack } from "./reader.ts";
import type { DialectReader, ReaderPlace } from "./reader.ts";
import { patientFetch } from "./patient-fetch.ts";

function clientOf({ url, session }: ReaderPlace): OpenAI {
  return new OpenAI({
    apiKey: "ann",
    baseURL: `${url}/openai/v1`,
    defaultHeaders: { "Millrace-Session": session },
    maxRetries: 0,
    fetch: patientFetch(),
  });
}

type Events = AsyncIterable<OpenAI.Responses.ResponseStreamEvent>;

/** What a page keeps of a response: all that it needs to come back. */
interface HeldResponse {
  id: string;
  last: number;
  text: string;
  isOver: boolean;
}

/** Reads Responses, and comes back with the number of the last event. */
export function responsesReader(place: ReaderPlace): DialectReader {
  const client = clientOf(place);
  const ask: DialectReader["ask"] = async (key, input) => {
    const held: HeldResponse = { id: "", last: 0, text: "", isOver: false };
    while (!held.isOver) {
      try {
        await read(await open(client, held, key, input), held);
      } catch (error) {
        // Another attempt has taken the place of what the page holds: it reads the response anew.
        if (error instanceof APIError && error.code === "begun_again")
          Object.assign(held, { last: 0, text: "" });
        await comeBack();
      }
    }
    return held.text;
  };
  return { name: "responses", ask };
}

async function open(
  { responses }: OpenAI,
  { id, last }: HeldResponse,
  key: string,
  input: string,
): Promise<Events> {
  if (id === "") {
    const headers = { "idempotency-key": key };
    return await responses.create({ input, background: true, stream: true }, { headers });
  }
  if (last === 0) return await responses.retrieve(id, { stream: true });
  return await responses.retrieve(id, { stream: true, starting_after: last });
}

async function read(events: Events, held: HeldResponse): Promise<void> {
  for await (const event of events) {
    held.last = event.sequence_number;
    if (event.type === "response.created") held.id = event.response.id;
    if (event.type === "response.output_text.delta") held.text += event.delta;
    if (event.type === "response.completed") held.isOver = true;
  }
}

/** Reads chat completions. After a cut it sends the same request again. */
export function completionsReader(place: ReaderPlace): DialectReader {
  const client = clientOf(place);
  const ask: DialectReader["ask"] = async (key, content) => {
    for (;;) {
      const held = await complete(client, key, content).catch(() => undefined);
      if (held !== undefined) return held;
      await comeBack();
    }
  };
  return { name: "completions", ask };
}

/** The text of a completion that came to its end. */
async function complete(
  { chat }: OpenAI,
  key: string,
  content: string,
): Promise<string | undefined> {
  const body = { model: "agent", messages: [{ role: "user" as const, content }] };
  const headers = { "idempotency-key": key };
  const chunks = await chat.completions.create({ ...body, stream: true }, { headers });
  let text = "";
  for await (const { choices } of chunks) {
    const [choice] = choices;
    text += choice?.delta.content ?? "";
    if (choice?.finish_reason === "stop") return text;
  }
  return undefined;
}
