// What the model sends, what the tool gets, and what programs get of its result.
import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

const model = scriptedModel([[call("book", { day: "2026-06-01" })], [say("It is booked.")]]);

// #region book
const book = defineTool({
  name: "book",
  description: "Books tables for a day",
  input: z.object({
    day: z.string().transform((text) => new Date(text)),
    seats: z.int().default(2),
  }),
  run({ day, seats }, { append }) {
    append(`${seats} seats\n`); // a Date and a number: what the schema made of the input
    return { day, tables: new Set([4, 7]) };
  },
});
for await (const event of defineAgent({ model, tools: [book] }).run("A table for two, please.")) {
  if (event.type === "tool_execution_started") console.log(event.input); // { day: string; seats?: number }
  if (event.type === "tool_execution_finished") console.log(event.output); // { day: string; tables: number[] }
}
// #endregion
