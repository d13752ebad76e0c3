import type { Schema } from "@millrace/agent";

// Two small schemas by hand, so that the command needs no schema library.

/** An object without fields. */
export const emptySchema: Schema<object, object> = schemaOf(
  { type: "object", properties: {}, additionalProperties: false },
  (value) => ({ value }),
);

/** An object with a command. */
export const commandSchema: Schema<object, { readonly command: string }> = schemaOf(
  {
    type: "object",
    properties: { command: { type: "string", description: "What /bin/sh is given" } },
    required: ["command"],
    additionalProperties: false,
  },
  (value) => {
    const command: unknown = "command" in value ? value.command : undefined;
    return typeof command === "string" && command.trim() !== ""
      ? { value: { command } }
      : { issues: [{ message: "must be a command", path: ["command"] }] };
  },
);

type Checked<Out> = Awaited<ReturnType<Schema<object, Out>["~standard"]["validate"]>>;

function schemaOf<Out>(
  jsonSchema: Record<string, unknown>,
  check: (value: object) => Checked<Out>,
): Schema<object, Out> {
  const copy = (): Record<string, unknown> => structuredClone(jsonSchema);
  return {
    "~standard": {
      version: 1,
      vendor: "millrace",
      validate: (value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? check(value)
          : { issues: [{ message: "must be an object" }] },
      jsonSchema: { input: copy, output: copy },
    },
  };
}
