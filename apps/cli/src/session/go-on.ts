import { toolNames } from "../command/arguments.ts";
import type { ChatOptions } from "../command/arguments.ts";

/**
 * The command line that goes on with a session in the same way: also its folder and its tools, and the
 * model unless the session remembers it.
 */
export function goOnCommand(
  session: string,
  {
    model,
    store,
    tools,
  }: { readonly model: string | undefined } & Pick<ChatOptions, "store" | "tools">,
): string {
  const chosen = toolNames.every((name) => tools.includes(name))
    ? []
    : ["--tools", tools.length === 0 ? "none" : tools.join(",")];
  const words = [
    "millrace",
    "chat",
    "--resume",
    session,
    ...(model === undefined ? [] : ["--model", model]),
    ...(store === undefined ? [] : ["--store", store]),
    ...chosen,
  ];
  return words.map((word) => quoted(word)).join(" ");
}

/** A word as a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-][A-Za-z0-9_@%+=:,./#-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
