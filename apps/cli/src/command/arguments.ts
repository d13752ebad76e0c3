import { parseArgs } from "node:util";

/** A command line that was parsed. */
export type Command =
  | { readonly command: "help" }
  | { readonly command: "version" }
  | { readonly command: "list"; readonly store: string | undefined }
  | { readonly command: "chat"; readonly options: ChatOptions }
  /** The command line can't be carried out. */
  | { readonly command: "usage"; readonly problem: string };

export interface ChatOptions {
  /** Left out: a new session. */
  readonly session: string | undefined;
  /** Whether the session has to be there already. */
  readonly resume: boolean;
  readonly model: string | undefined;
  readonly store: string | undefined;
  readonly json: boolean;
  readonly tools: readonly ToolName[];
}

/** The tools that come with the command. */
export const toolNames = ["time", "shell"] as const;
export type ToolName = (typeof toolNames)[number];

const options = {
  session: { type: "string" },
  resume: { type: "string" },
  model: { type: "string" },
  store: { type: "string" },
  tools: { type: "string" },
  json: { type: "boolean" },
  list: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** Reads the words after the program's name. Never throws: what can't be read is a usage problem. */
export function parseCommand(words: readonly string[]): Command {
  let parsed;
  try {
    parsed = parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  const [name, ...rest] = positionals;
  if (values.help === true) return { command: "help" };
  if (values.version === true) return { command: "version" };
  if (name === undefined) return usage("say what to do: millrace chat");
  if (name !== "chat") return usage(`there is no command ${JSON.stringify(name)}`);
  if (rest.length > 0) {
    return usage(`chat takes no further words; pipe the prompt in: echo … | millrace chat`);
  }
  if (values.list === true) return { command: "list", store: values.store };
  if (values.session !== undefined && values.resume !== undefined) {
    return usage("--session and --resume both name a session: give one of them");
  }
  const tools = toolsOf(values.tools);
  if (typeof tools === "string") return usage(tools);
  return {
    command: "chat",
    options: {
      session: values.resume ?? values.session,
      resume: values.resume !== undefined,
      model: values.model,
      store: values.store,
      json: values.json === true,
      tools,
    },
  };
}

function usage(problem: string): Command {
  return { command: "usage", problem };
}

function toolsOf(list: string | undefined): readonly ToolName[] | string {
  if (list === undefined) return toolNames;
  if (list === "none") return [];
  const chosen: ToolName[] = [];
  for (const word of list.split(",")) {
    const known = toolNames.find((name) => name === word.trim());
    if (known === undefined) {
      return `there is no tool ${JSON.stringify(word)}: there are ${toolNames.join(", ")}, or none`;
    }
    if (!chosen.includes(known)) chosen.push(known);
  }
  return chosen;
}
