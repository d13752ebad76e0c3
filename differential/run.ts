import { startVendorServer } from "@millrace/providers/testing";
import type { VendorServer } from "@millrace/providers/testing";
import { comparedFields, differencesOf } from "./compare.ts";
import type { Difference } from "./compare.ts";
import { aiSdk } from "./contenders/ai-sdk.ts";
import type { Contender } from "./contenders/contender.ts";
import { millrace } from "./contenders/millrace.ts";
import { vendorSdk } from "./contenders/vendor.ts";
import { failedReading } from "./reading.ts";
import type { Reading } from "./reading.ts";
import { models } from "./streams.ts";
import type { Stream } from "./streams.ts";

/** The readers beside ours. */
export const contenders: readonly Contender[] = [vendorSdk, aiSdk];

export interface Run {
  readonly comparisons: number;
  readonly differences: readonly Difference[];
}

/** Replays each stream to each reader, and compares every other reading with ours. */
export async function runAll(streams: readonly Stream[]): Promise<Run> {
  await using server = await startReplay(streams);
  let comparisons = 0;
  const differences: Difference[] = [];
  for (const stream of streams) {
    const ours = await read(millrace, stream, server);
    for (const contender of contenders) {
      const theirs = await read(contender, stream, server);
      const about = { stream: stream.id, contender: contender.name(stream.protocol) };
      comparisons += comparedFields(ours, theirs).length;
      differences.push(...differencesOf(about, ours, theirs));
    }
  }
  return { comparisons, differences };
}

/**
 * Replies to each path once, with the bytes of the stream that it names. A reader that asks again, as
 * a retry or to continue, gets an error: one stream is one reply.
 */
function startReplay(streams: readonly Stream[]): Promise<VendorServer> {
  const bytes = new Map(streams.map(({ id, bytes }) => [id, bytes]));
  const served = new Set<string>();
  return startVendorServer({
    replies: ({ path }) => {
      const [, reader, protocol, name] = path.split("/");
      const id = `${protocol}/${name}`;
      const body = bytes.get(id);
      const asked = `${reader} ${id}`;
      if (body === undefined || served.has(asked)) return { status: 400, body: "{}" };
      served.add(asked);
      return { body, chunks: { seed: 1, largest: 512 } };
    },
  });
}

/** How long a reader may take. A stream is replayed in milliseconds: one that takes longer hangs. */
const longestMs = 20_000;

async function read(reader: Contender, stream: Stream, { url }: VendorServer): Promise<Reading> {
  const { id, protocol, tools, options } = stream;
  const name = reader.name(protocol);
  const base = `${url}/${encodeURIComponent(name)}/${id}`;
  const reading = reader
    .read({ protocol, base, model: models[protocol], tools, options })
    .catch(() => failedReading);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const hung = new Error(`${name} has not read ${id} after ${longestMs} ms`);
    timer = setTimeout(() => reject(hung), longestMs);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}
