import { defineTool } from "@millrace/agent";
import { z } from "zod";

/** A tool of the server. */
export const weather = defineTool({
  name: "weather",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: ({ city }) => ({ city, sky: "blue" }),
});

/** A tool that asks a person. */
export const pay = defineTool({
  name: "pay",
  input: z.object({ cents: z.number() }),
  approve: () => "ask",
  run: ({ cents }) => `paid ${cents}`,
});

/** A tool of the client. */
export const place = defineTool({
  name: "place",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});
