/** Bodies of nearly 10 MiB, or of as many values as are taken, that are expensive to read in one way each. */

const size = 10 * 1_024 * 1_024 - 200;
const many = (text: string, length = size): string => text.repeat(Math.floor(length / text.length));
const list = (length: number, make: (at: number) => unknown): string =>
  JSON.stringify(Array.from({ length }, (_, at) => make(at)));
const metadata = (value: string): string => `{"metadata":{"a":${value}}}`;
const filler = "x".repeat(950);

/** A body, and where it is sent. `name` differs for each time that it is sent. */
export interface LargeBody {
  readonly path: string;
  readonly body: (name: string) => string;
}

const sessions = (body: string): LargeBody => ({ path: "/v1/sessions", body: () => body });

export const largeBodies: Readonly<Record<string, LargeBody>> = {
  "lists in lists": sessions(metadata(`[${many("[],")}[]]`)),
  "as many values as are taken": sessions(metadata(`[${"[],".repeat(99_000)}[]]`)),
  numbers: sessions(metadata(`[${many("1,")}1]`)),
  "one text": sessions(metadata(`"${many("x")}"`)),
  "a prompt": sessions(`{"input":{"kind":"prompt","text":"${many("x", 8_000_000)}"}}`),
  "a prompt of escapes": sessions(`{"input":{"kind":"prompt","text":"${many("\\u0041")}"}}`),
  "a prompt of parts": sessions(
    `{"input":{"kind":"prompt","parts":${list(30_000, () => ({ kind: "text", text: filler.slice(0, 300) }))}}}`,
  ),
  "half pairs": sessions(metadata(`"${many("\\ud83d\\ude00")}"`)),
  "one number": sessions(metadata(many("9"))),
  "one fraction": sessions(metadata(`0.${many("9")}`)),
  "white space": sessions(metadata(`${many(" ")}1`)),
  "lists as deep as the text": sessions(metadata(many("[", 1_000_000))),
  keys: sessions(
    metadata(`{${Array.from({ length: 9_000 }, (_, at) => `"k${at}${filler}":1`).join()}}`),
  ),
  "escaped keys": sessions(
    metadata(
      `[${Array.from({ length: 9 }, () => `{${Array.from({ length: 9_000 }, (_, at) => `"\\u006b${at}":1`).join()}}`).join()}]`,
    ),
  ),
  "a key that needs an escape": sessions(`{"metadata":{"\\"":1,"a":"${many("\\n")}"}}`),
  "a stream of sessions": {
    path: "/v1/events",
    body: () => `{"sessions":[${"[],".repeat(20_000)}[]]}`,
  },
  "messages of ag-ui": {
    path: "/ag-ui",
    body: (name) =>
      `{"threadId":"${name}","runId":"r","messages":${list(24_000, (at) => ({ id: `m${at}`, role: "user", content: "x" }))}}`,
  },
  "results of ag-ui": {
    path: "/ag-ui",
    body: (name) =>
      `{"threadId":"${name}","runId":"r","messages":${list(19_000, (at) => ({ id: `m${at}`, role: "tool", toolCallId: `c${at}`, content: "x" }))}}`,
  },
  "messages of the AI SDK": {
    path: "/ai-sdk",
    body: (name) =>
      `{"id":"${name}","messages":${list(14_000, (at) => ({ id: `m${at}`, role: "user", parts: [{ type: "text", text: filler.slice(0, 600) }] }))}}`,
  },
  "parts of the AI SDK": {
    path: "/ai-sdk",
    body: (name) =>
      `{"id":"${name}","messages":[{"id":"m","role":"user","parts":${list(10_000, () => ({ type: "text", text: filler.slice(0, 900) }))}}]}`,
  },
  "messages of completions": {
    path: "/openai/v1/chat/completions",
    body: () => `{"messages":${list(10_000, () => ({ role: "user", content: filler }))}}`,
  },
  "items of responses": {
    path: "/openai/v1/responses",
    body: () => `{"input":${list(33_000, () => ({ role: "user", content: "x" }))}}`,
  },
};
