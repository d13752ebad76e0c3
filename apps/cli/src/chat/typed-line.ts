/** What a typed line is. */
export type Typed =
  | { readonly kind: "nothing" }
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "follow_up"; readonly text: string }
  | { readonly kind: "back"; readonly place: number }
  | { readonly kind: "queue" | "fork" | "usage" | "help" | "quit" }
  | { readonly kind: "unknown"; readonly problem: string };

/**
 * Reads a typed line: a command of ours, or words for the model. A path such as `/etc/hosts` is
 * words, since no command has a second slash; `//` at the start is one slash to the model.
 */
export function readLine(line: string): Typed {
  const text = line.trim();
  if (text === "") return { kind: "nothing" };
  if (text.startsWith("//")) return { kind: "prompt", text: text.slice(1) };
  const [, name, rest] = /^\/([a-z]*)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  if (name === undefined) return { kind: "prompt", text };
  switch (name) {
    case "followup":
      return rest === undefined
        ? { kind: "unknown", problem: "say what should follow: /followup <text>" }
        : { kind: "follow_up", text: rest };
    case "back": {
      const place = Number(rest ?? "1");
      return Number.isInteger(place) && place > 0
        ? { kind: "back", place }
        : { kind: "unknown", problem: "/back takes the number that /queue shows" };
    }
    case "queue":
    case "fork":
    case "usage":
    case "help":
    case "quit":
      return { kind: name };
    default:
      return { kind: "unknown", problem: `there is no command /${name}: /help shows them` };
  }
}

/** What a line answers to a question: yes, no with or without a reason, or neither. */
export type Answer =
  | { readonly answer: "allow" }
  | { readonly answer: "deny"; readonly reason: string | undefined }
  | { readonly answer: "unclear" };

/** Only a whole `y` or `yes` allows: whatever else was being typed when a question came does not. */
export function readAnswer(line: string): Answer {
  const text = line.trim();
  if (/^y(es)?$/i.test(text)) return { answer: "allow" };
  const [denied, reason] = /^no?(?:[\s,:]+([\s\S]+))?$/i.exec(text) ?? [];
  return denied === undefined ? { answer: "unclear" } : { answer: "deny", reason };
}
