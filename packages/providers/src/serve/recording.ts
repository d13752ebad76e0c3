import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpReply } from "./vendor-reply.ts";

/** What is kept of one exchange besides the body of the response, which is a file of its own. */
export interface Recording {
  readonly format: 1;
  readonly protocol: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    /** JSON, or text if it is none. */
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    /** Since the request was sent on. */
    readonly headersMs: number;
    /** `cut` by the vendor's side, or `left` by the client before there was an end. */
    readonly end: "whole" | "cut" | "left";
    /** Something was taken out of the body. Without this, it is what the vendor sent. */
    readonly redacted: boolean;
  };
  /** Where each piece of the body begins and when it came, since the request was sent on. */
  readonly pieces: readonly (readonly [offset: number, ms: number])[];
}

/**
 * Writes `<name>.sse` and `<name>.json` and returns the name. Never over files that are there: the
 * name then gets a number behind it.
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
  /** 1 is the time of the recording, 10 a tenth of it, `Infinity` no waiting at all. */
  readonly speed?: number | undefined;
}

/**
 * The reply of a recording, for `startVendorServer`: the same bytes in the same pieces at the same
 * times.
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
