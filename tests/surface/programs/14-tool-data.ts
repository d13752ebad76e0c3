// What the types promise of tools' data is what is there: inputs as the model sent them, outputs as the
// JSON that arrives. `Same` holds for equal types only, so each line below fails if one of them moves.
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Run, SchemaInput, SchemaOutput, Session } from "@millrace/agent";
import type { Item, Json, JsonObject, Model, ViewApproval, ViewPart } from "@millrace/core";
import type { EventOf } from "@millrace/core/reading";
import type { JsonOf } from "@millrace/core/wire";
import { z } from "zod";

type Same<A, B> =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- compares types, not values
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(proof: Same<A, B>): void;
declare const model: Model;

class Seat {
  row = 1;
  readonly booked = new Date();
  free(): boolean {
    return this.row > 0;
  }
}

const input = z.object({
  day: z.string().transform((text) => new Date(text)),
  seats: z.int().default(1),
  note: z.string().optional(),
});
type Sent = { day: string; seats?: number; note?: string };

const book = defineTool({
  name: "book",
  input,
  approve: ({ day, seats }) => (day.getTime() > seats ? "ask" : "allow"), // the parsed input
  run: ({ day, seats, note }) => ({
    day,
    total: BigInt(seats),
    tags: new Set([note]),
    rows: new Map([[seats, new Seat()]]),
    left: undefined as number | undefined,
    again: () => day,
    link: new URL("https://a.example"),
    range: [day, 1n] as const,
  }),
});
interface Booked {
  day: string;
  total: string;
  tags: (string | null)[];
  rows: [number, { row: number; readonly booked: string }][];
  left?: number;
  link: string;
  range: readonly [string, string];
}
const nothing = defineTool({
  name: "nothing",
  input: z.object({}),
  run: (_, { append }) => append("a"),
});
const anything = defineTool({ name: "anything", input: z.object({}), run: (): unknown => 1 });
const checked = defineTool({
  name: "checked",
  input: z.object({}),
  output: z.object({ at: z.string().transform((text) => new Date(text)), n: z.int().default(2) }),
  run: () => ({ at: "2026-01-01" }), // what the schema accepts
});
const answered = defineTool({
  name: "answered",
  input: z.object({}),
  output: z.object({ at: z.string().transform((text) => new Date(text)) }),
  run: "client",
});
defineTool({
  name: "wrong",
  input,
  output: z.object({ at: z.string() }),
  // @ts-expect-error the output schema does not accept a Date
  run: () => ({ at: new Date() }),
});

same<SchemaInput<typeof input>["day"], string>(true);
same<SchemaOutput<typeof input>["day"], Date>(true);
// @ts-expect-error `Same` is false for types that differ
same<{ a: string }, { a?: string }>(true);

const agent = defineAgent({ model, tools: [book, nothing, anything, checked, answered] });
export const anyAgent: Agent = agent; // for code that takes any agent's
const session = await agent.open();
export const anySession: Session = session;

function confirm(question: ViewApproval): "allow" | "deny" {
  return question.tool === "book" ? "allow" : "deny";
}
session.send("Book.", { ask: confirm });
const run = session.send("Book.", {
  ask: (question) => {
    if (question.tool !== "book") return "deny";
    same<typeof question.input, Sent>(true);
    // @ts-expect-error the model may have left it out: the default is not filled in yet
    question.input.seats.toFixed();
    return question.input.day.length > 0 ? "allow" : "deny";
  },
});
export const anyRun: Run = run;

for await (const event of run) {
  if (event.type === "approval_requested" && event.tool === "book") {
    same<typeof event.input, Sent>(true);
  }
  if (event.type === "tool_execution_started" && event.tool === "book") {
    same<typeof event.input, Sent>(true);
    // @ts-expect-error a string: the schema's Date is for the tool alone
    const day: Date = event.input.day;
    console.log(day);
  }
  if (event.type !== "tool_execution_finished") continue;
  if (event.tool === "book" && event.output)
    same<JsonOf<typeof event.output>, typeof event.output>(true);
  if (event.tool === "nothing" && event.output) same<typeof event.output, string>(true);
  if (event.tool === "anything") same<typeof event.output, Json | undefined>(true);
  if (event.tool === "checked" && event.output)
    same<typeof event.output, { at: string; n: number }>(true);
  if (event.tool === "answered" && event.output) same<typeof event.output, { at: string }>(true);
}
for await (const event of run.narrate()) {
  if (event.type === "approval_requested" && event.tool === "book") {
    same<typeof event.input, Sent>(true);
  }
  if (event.type === "tool_execution_started" && event.tool === "book") {
    same<typeof event.input, Sent>(true);
  }
  if (event.type === "tool_call_ready" && event.tool === "book") {
    same<typeof event.input.day, Json | undefined>(true); // not checked yet: it may be anything
  }
}
const asked = await run.until("approval_requested");
if (asked.tool === "book") same<typeof asked.input, Sent>(true);

for (const approval of session.approvals) {
  if (approval.tool === "book") same<typeof approval.input, Sent>(true);
}
for (const part of session.items.flatMap((item) => item.parts)) {
  const shown: ViewPart = part; // for code that shows any agent's
  if (shown.kind !== "tool_call" || part.kind !== "tool_call" || part.tool !== "book") continue;
  if (part.state === "running") same<typeof part.input, Sent>(true);
  if (part.state === "waiting") same<NonNullable<typeof part.input>["day"], Json | undefined>(true);
  if (part.state !== "finished") continue;
  same<typeof part.input, Sent>(true);
  const output: Booked = part.output;
  const shownOutput: typeof part.output = output;
  const tags = new Set(part.output.tags);
  const rows = new Map(part.output.rows);
  console.log(shownOutput, tags.size, rows.get(1)?.booked.length, BigInt(part.output.total));
  // @ts-expect-error a Date does not survive JSON
  const day: Date = part.output.day;
  console.log(day);
  // @ts-expect-error neither does a function
  void part.output.again;
}
export const items: readonly Item[] = session.transcript; // for code that takes any agent's
for (const part of session.transcript.flatMap((item) => item.parts)) {
  if (part.kind === "tool_call") same<typeof part.input, JsonObject | undefined>(true);
  if (part.kind !== "tool_result" || part.tool !== "checked") continue;
  console.log(part.output?.at.length, part.output?.n.toFixed());
}

type EventOfAny = Extract<EventOf, { readonly type: "tool_execution_started" }>;
same<EventOfAny["input"], JsonObject>(true);

interface Tree {
  at: Date;
  kids: Tree[];
  byName?: Map<string, Tree> | undefined;
}
export const deep = (tree: JsonOf<Tree>): string | undefined => tree.kids[0]?.byName?.[0]?.[1].at;
same<JsonOf<{ city: string }>, { city: string }>(true);
same<JsonOf<Date | bigint | null>, string | null>(true);
same<JsonOf<Uint8Array>, never>(true);
same<JsonOf<Set<bigint | undefined>>, (string | null)[]>(true);
same<JsonOf<Map<Date, Set<object>>>, [string, object[]][]>(true);
same<JsonOf<{ a: unknown; b: string | (() => void) }>, { a?: Json; b?: string }>(true);
same<JsonOf<Record<string, Date | undefined>>, Record<string, string>>(true);
