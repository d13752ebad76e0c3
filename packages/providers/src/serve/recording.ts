import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpReply } from "./vendor-reply.ts";

/** The stored data of one exchange, except the body of the response, which has its own file. */
export interface Recording {
  readonly format: 1;
  readonly protocol: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    /** Parsed JSON, or text if it is not JSON. */
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    /** Since the request was forwarded. */
    readonly headersMs: number;
    /** `cut`: by the vendor's side. `left`: the client disconnected before the end. */
    readonly end: "whole" | "cut" | "left";
    /** True if something was removed from the body. Otherwise it is what the vendor sent. */
    readonly redacted: boolean;
  };
  /** The offset of each piece of the body, and its time since the request was forwarded. */
  readonly pieces: readonly (readonly [offset: number, ms: number])[];
}

/**
 * Writes `<name>.sse` and `<name>.json` and returns the name. Never overwrites files: appends a
 * number to the name instead.
 */
export async function saveRecording(
  folder: string,
  name: string,
  { recording, body }: { readonly recording: Recording; readonly body: Uint8Array },
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const text = `${JSON.stringify(recording, undefined, 2)}\n`;
  for (let copy = 1; ; copy += 1) {
    const free = copy === 1 ? name : `${name}-${copy}`;
    if (!(await writeNew(join(folder, `${free}.json`), text))) continue;
    if (await writeNew(join(folder, `${free}.sse`), body)) return free;
    await rm(join(folder, `${free}.json`));
  }
}

async function writeNew(path: string, content: string | Uint8Array): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** How fast a recording is played. */
export interface ReplayOptions {
  /** 1 keeps the recorded times, 10 is ten times as fast, `Infinity` does not wait. */
  readonly speed?: number | undefined;
}

/**
 * Returns the reply of a recording for `startVendorServer`: the same bytes in the same pieces at
 * the same times.
 *
 * ```ts
 * const reply = await replayRecording("fixtures/openai-chat", "two-calls", { speed: 10 });
 * await using server = await startVendorServer({ replies: [reply] });
 * ```
 */
export async function replayRecording(
  folder: string,
  name: string,
  { speed = 1 }: ReplayOptions = {},
): Promise<HttpReply> {
  const body = await readFile(join(folder, `${name}.sse`));
  const text = await readFile(join(folder, `${name}.json`), "utf8");
  const { response, pieces } = JSON.parse(text) as Recording;
  const offsets = [...pieces.map(([offset]) => offset), body.length];
  const times = [response.headersMs, ...pieces.map(([, ms]) => ms)];
  return {
    status: response.status,
    headers: response.headers,
    body,
    chunks: gaps(offsets),
    delayMs: gaps(times).map((ms) => ms / speed),
    headersDelayMs: response.headersMs / speed,
    end: endingOf(response),
  };
}

function gaps(values: readonly number[]): readonly number[] {
  return values.slice(1).map((value, index) => value - (values[index] ?? 0));
}

function endingOf({ end, headers }: Recording["response"]): HttpReply["end"] {
  switch (end) {
    case "whole":
      return "whole";
    case "left":
      return "stay_open";
    case "cut":
      return headers["content-length"] === undefined ? "half_chunk" : "short";
    default:
      return end satisfies never;
  }
}
