import { parseArgs } from "node:util";

/** A command line that was parsed. */
export type Command =
  | { readonly command: "help" }
  | { readonly command: "version" }
  | {
      readonly command: "list";
      readonly store: string | undefined;
      readonly url: string | undefined;
    }
  | { readonly command: "chat"; readonly options: ChatOptions }
  /** The command line can't be carried out. */
  | { readonly command: "usage"; readonly problem: string };

export interface ChatOptions {
  /** The prompt that the command line names. */
  readonly prompt: string | undefined;
  /** Whether the answer is printed and the command then ends. */
  readonly print: boolean;
  /** Left out: a new session. */
  readonly session: string | undefined;
  /** Whether the session has to be there already. */
  readonly resume: boolean;
  readonly model: string | undefined;
  readonly store: string | undefined;
  /** The server that the session is at. Left out: it is a file. */
  readonly url: string | undefined;
  readonly json: JsonOutput | undefined;
  readonly tools: readonly ToolName[];
}

/** What `--json` prints: one line with the result, or a line for each event. */
const jsonOutputs = ["result", "events"] as const;
export type JsonOutput = (typeof jsonOutputs)[number];

/** The tools that come with the command. */
export const toolNames = ["time", "shell"] as const;
export type ToolName = (typeof toolNames)[number];

const options = {
  print: { type: "boolean", short: "p" },
  session: { type: "string" },
  resume: { type: "string" },
  model: { type: "string" },
  store: { type: "string" },
  url: { type: "string" },
  tools: { type: "string" },
  json: { type: "string" },
  list: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** Reads the words after the program's name. Never throws: what can't be read is a usage problem. */
export function parseCommand(words: readonly string[]): Command {
  let parsed;
  try {
    const args = withJsonValue(words);
    parsed = parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help === true) return { command: "help" };
  if (values.version === true) return { command: "version" };
  const [prompt, ...more] = positionals[0] === "chat" ? positionals.slice(1) : positionals;
  if (more.length > 0) {
    return usage(`a prompt is one word for the shell: put quotes around it: millrace "…"`);
  }
  if (prompt?.trim() === "") return usage(`the prompt is empty: millrace "…"`);
  if (values.store === "") return usage("--store needs a folder: --store <folder>");
  const { url } = values;
  const unusable = url === undefined ? undefined : notAtServer(values);
  if (unusable !== undefined) return usage(unusable);
  if (values.list === true) {
    return prompt === undefined
      ? { command: "list", store: values.store, url }
      : usage("--list takes no prompt");
  }
  if (values.session !== undefined && values.resume !== undefined) {
    return usage("--session and --resume both name a session: give one of them");
  }
  const json = jsonOutputs.find((name) => name === values.json);
  if (values.json !== json) return usage("--json takes nothing, or events: --json=events");
  const tools = toolsOf(values.tools);
  if (typeof tools === "string") return usage(tools);
  return {
    command: "chat",
    options: {
      prompt,
      print: values.print === true,
      session: values.resume ?? values.session,
      resume: values.resume !== undefined,
      model: values.model,
      store: values.store,
      url,
      json,
      tools,
    },
  };
}

/** What can't go with `--url`, and why. */
function notAtServer(values: {
  readonly model?: string;
  readonly store?: string;
  readonly tools?: string;
  readonly json?: string;
}): string | undefined {
  const own = (["model", "store", "tools"] as const).find((name) => values[name] !== undefined);
  if (own !== undefined) return `--${own} is the server's own with --url: leave it out`;
  if (values.json === "events")
    return "--json=events is for sessions in files: of a server, read GET /v1/sessions/<id>/events";
  return undefined;
}

/** `--json` alone is `--json=result`: the parser of Node knows no option whose value may be left out. */
function withJsonValue(words: readonly string[]): string[] {
  const end = words.indexOf("--");
  return words.map((word, at) =>
    word === "--json" && (end < 0 || at < end) ? "--json=result" : word,
  );
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
