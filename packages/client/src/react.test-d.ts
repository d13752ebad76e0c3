// The types of an agent's tools reach a component without a cast. Compiled, never run.
import type { ToolShape } from "@millrace/core/reading";
import { z } from "zod";
import { createClient } from "./client.ts";
import type { PartOf } from "./client.ts";
import { previewOf } from "./index.ts";
import { useSession } from "./react.ts";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type Weather = ToolShape<"weather", { readonly city: string }, { readonly celsius: number }>;
interface Trip {
  readonly day: string;
  readonly class: "first" | "second";
  readonly stops: readonly { readonly city: string; readonly nights: number }[];
}
type Book = ToolShape<"book", Trip, { readonly seat: string }>;
interface Server {
  readonly "~agent"?: { readonly tools: readonly [Weather, Book] };
}
const client = createClient<Server>({ url: "/agent" });

/** A component that shows one part. */
export function show(part: PartOf<typeof client>): number | string | undefined {
  if (part.kind === "text") return part.text;
  if (part.kind !== "tool_call") return undefined;
  const names: Equal<typeof part.tool, "weather" | "book"> = true;
  if (part.tool === "weather" && part.state === "finished") return part.output.celsius;
  if (part.tool === "book" && part.state === "finished") return part.output.seat;
  if (part.tool === "book" && part.state === "writing") {
    const { stops, class: seat } = previewOf(part);
    const nights: Equal<typeof stops, readonly { city?: string; nights?: number }[] | undefined> =
      true;
    const half: Equal<typeof seat, string | undefined> = true; // "fir" is none of the two
    return `${nights} ${half} ${stops?.[0]?.city}`;
  }
  // @ts-expect-error a call that is complete has an input, and no preview
  if (part.state === "waiting") previewOf(part);
  // @ts-expect-error no tool has this name
  if (part.tool === "whether") return undefined;
  return `${names} ${part.state}`;
}

/** A component that shows a session. */
export function Screen(): readonly unknown[] {
  const session = useSession(client, "trip");
  const [ask] = session.approvals;
  const day: string | undefined = ask?.tool === "book" ? ask.input.day : undefined;
  const { send, allow, abort } = session;
  const asked = send("When?", {
    output: z.object({ day: z.string() }),
    ask: ({ tool, input }) => (tool === "book" && input.day === "" ? "deny" : "allow"),
  });
  void asked.result.then((result) => {
    const at: string = result.outcome === "completed" ? result.output.day : result.text;
    return at;
  });
  return [session.items.map(({ parts }) => parts.map(show)), day, send, allow, abort];
}
