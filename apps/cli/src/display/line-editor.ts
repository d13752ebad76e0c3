/** A key as Node's readline reports it. */
export interface Key {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** The line being typed. Positions are UTF-16 units. */
export interface Line {
  readonly text: string;
  readonly cursor: number;
  /** Lines sent before, oldest first. */
  readonly past: readonly string[];
  /** Which of them is shown; as many as there are: the new one. */
  readonly at: number;
  /** The new line, while an old one is shown. */
  readonly kept: string;
  /** What is being pasted, until all of it is there. */
  readonly pasted: string | undefined;
}

export type Edited =
  | { readonly line: Line; readonly done?: undefined }
  /** Enter: this was typed. */
  | { readonly line: Line; readonly done: "enter"; readonly typed: string }
  | { readonly line: Line; readonly done: "stop" | "interrupt" | "end" | "suspend" | "redraw" };

const maxPast = 200;

export const emptyLine: Line = {
  text: "",
  cursor: 0,
  past: [],
  at: 0,
  kept: "",
  pasted: undefined,
};

/** Puts a text into the line, in place of what is there. */
export function withText(line: Line, text: string): Line {
  return { ...line, text, cursor: text.length, at: line.past.length };
}

/** What a key does to the line. Keys that mean nothing change nothing. */
export function edit(line: Line, key: Key): Edited {
  if (key.name === "paste-start") return { line: { ...line, pasted: "" } };
  if (line.pasted !== undefined) return { line: paste(line, line.pasted, key) };
  if (key.ctrl === true) return control(line, key.name ?? "");
  switch (key.name) {
    case "return":
      // Alt-Enter is a line feed in the line.
      return key.meta === true ? { line: insert(line, "\n") } : enter(line);
    case "enter":
      return { line: insert(line, "\n") };
    case "escape":
      return { line, done: "stop" };
    case "backspace":
      return { line: key.meta === true ? eraseWord(line) : erase(line, before(line), line.cursor) };
    case "delete":
      return { line: erase(line, line.cursor, after(line)) };
    case "left":
      return { line: { ...line, cursor: before(line) } };
    case "right":
      return { line: { ...line, cursor: after(line) } };
    case "home":
      return { line: { ...line, cursor: 0 } };
    case "end":
      return { line: { ...line, cursor: line.text.length } };
    case "up":
      return { line: recall(line, line.at - 1) };
    case "down":
      return { line: recall(line, line.at + 1) };
    default:
      return { line: key.meta === true ? line : insert(line, typedBy(key)) };
  }
}

function control(line: Line, name: string): Edited {
  switch (name) {
    case "c":
      return { line, done: "interrupt" };
    case "d":
      return line.text === ""
        ? { line, done: "end" }
        : { line: erase(line, line.cursor, after(line)) };
    case "z":
      return { line, done: "suspend" };
    case "l":
      return { line, done: "redraw" };
    case "a":
      return { line: { ...line, cursor: 0 } };
    case "e":
      return { line: { ...line, cursor: line.text.length } };
    case "u":
      return { line: erase(line, 0, line.cursor) };
    case "k":
      return { line: erase(line, line.cursor, line.text.length) };
    case "w":
      return { line: eraseWord(line) };
    default:
      return { line };
  }
}

/** Pasted text comes key by key; it is put in at once, so that a long one costs its length. */
function paste(line: Line, pasted: string, key: Key): Line {
  if (key.name !== "paste-end") {
    return { ...line, pasted: pasted + (key.name === "return" ? "\n" : (key.sequence ?? "")) };
  }
  const text = pasted.replaceAll(/\r\n?/g, "\n").replaceAll(/(?![\n\t])\p{Cc}/gu, "");
  return insert({ ...line, pasted: undefined }, text);
}

function enter(line: Line): Edited {
  const typed = line.text;
  const past = typed.trim() === "" ? line.past : [...line.past, typed].slice(-maxPast);
  return { line: { ...emptyLine, past, at: past.length }, done: "enter", typed };
}

function insert(line: Line, text: string): Line {
  if (text === "") return line;
  const { text: old, cursor } = line;
  return {
    ...line,
    text: old.slice(0, cursor) + text + old.slice(cursor),
    cursor: cursor + text.length,
  };
}

function erase(line: Line, from: number, to: number): Line {
  return { ...line, text: line.text.slice(0, from) + line.text.slice(to), cursor: from };
}

function eraseWord(line: Line): Line {
  const kept = line.text.slice(0, line.cursor).replace(/\S*\s*$/, "");
  return erase(line, kept.length, line.cursor);
}

function recall(line: Line, at: number): Line {
  const { past, text } = line;
  if (at < 0 || at > past.length) return line;
  const kept = line.at === past.length ? text : line.kept;
  const shown = past[at] ?? kept;
  return { ...line, at, kept, text: shown, cursor: shown.length };
}

/** The text that a key stands for: none for arrows, function keys and what else is a sequence. */
function typedBy({ sequence = "" }: Key): string {
  return /\p{Cc}/u.test(sequence) ? "" : sequence;
}

/** One character back, of which some are two units. */
function before({ text, cursor }: Line): number {
  return cursor - (Array.from(text.slice(Math.max(0, cursor - 2), cursor)).at(-1)?.length ?? 0);
}

function after({ text, cursor }: Line): number {
  return cursor + (Array.from(text.slice(cursor, cursor + 2)).at(0)?.length ?? 0);
}
