import { defineTool } from "@millrace/agent";
import type { Schema, Tool } from "@millrace/agent";
import type { Clock } from "@millrace/core/ports";

/** What the random models ask for. */
interface AnyInput {
  readonly ask?: boolean;
  readonly a?: number;
}

const told = { type: "object", properties: { a: { type: "number" }, ask: { type: "boolean" } } };

/** Takes every object that has no `wrong` in it. */
export const anyInput: Schema<object, AnyInput> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "object" && value !== null && !("wrong" in value)
        ? { value: value }
        : { issues: [{ message: "not so", path: ["wrong"] }] },
    jsonSchema: { input: () => told, output: () => told },
  },
};

const anyOutput: Schema<unknown, unknown> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => (value === "wrong" ? { issues: [{ message: "not so" }] } : { value }),
    jsonSchema: { input: () => ({}), output: () => ({}) },
  },
};

/** One tool of each sort there is. */
export function manyTools(clock: Clock): readonly Tool[] {
  const input = anyInput;
  const approve = ({ ask }: AnyInput) => (ask === true ? "ask" : "allow");
  return [
    defineTool({
      name: "look",
      description: "Looks",
      input,
      effect: "pure",
      run: () => ({ sky: "blue" }),
    }),
    defineTool({ name: "pay", input, approve, run: ({ a }) => `paid ${a ?? 0}` }),
    defineTool({
      name: "slow",
      input,
      effect: "idempotent",
      limits: { seconds: 30 },
      run: async ({ a }, { signal, append }) => {
        append("begun. ");
        await clock.sleep((a ?? 1) * 15_000, a === 3 ? undefined : signal);
        return "ended";
      },
    }),
    defineTool({
      name: "wire",
      input,
      run: async (_, { signal }) => {
        await clock.sleep(20_000, signal);
        return "wired";
      },
    }),
    defineTool({ name: "alone", input, sequence: "alone", approve, run: () => [1, 2] }),
    defineTool({
      name: "boom",
      input,
      run: () => {
        throw new Error("it broke");
      },
    }),
    defineTool({ name: "locate", input, output: anyOutput, run: "client" }),
    defineTool({ name: "never", input, approve: "deny", run: () => "never" }),
  ];
}
