import type { ClientView } from "@millrace/client";

/** Where a case finds its server, and how it disturbs it. Plain text, since it is passed to another runtime. */
export interface Stage {
  /** The server, behind a proxy that can cut connections. */
  readonly url: string;
  /** The same server, behind a proxy that holds streams back. */
  readonly buffering: string;
  /** Takes `/cut`, `/down`, `/up`, `/kill` and `/restart`. */
  readonly control: string;
}

/** What a case works with. */
export interface Kit extends Stage {
  /** Disturbs the server or the way to it. Resolves when it is done. */
  readonly disturb: (what: "cut" | "down" | "up" | "kill" | "restart") => Promise<void>;
  /** How many streams the server has open. */
  readonly streams: () => Promise<number>;
}

/** A case: rejects if the client does not do what it promises. Uses no runtime's own modules. */
export type Case = (kit: Kit) => Promise<void>;

/** Makes the kit of a stage. */
export function kitOf(stage: Stage): Kit {
  return {
    ...stage,
    disturb: async (what) => {
      const response = await fetch(`${stage.control}/${what}`, { method: "POST" });
      await response.text();
    },
    streams: async () => Number(await (await fetch(`${stage.control}/streams`)).text()),
  };
}

/** Waits until a condition holds. Rejects after the time limit. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 20_000,
): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => void setTimeout(resolve, 10));
  }
}

/** Rejects if two values differ, as JSON. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

/** The text on a screen: of all parts of all items, in order. */
export function textOf({ items }: Pick<ClientView, "items">): string {
  return items
    .flatMap(({ parts }) => parts)
    .map((part) => (part.kind === "text" ? part.text : ""))
    .filter((text) => text !== "")
    .join("|");
}

/** A session of its own for each case, also if one server plays them twice. */
export function freshId(name: string): string {
  return `${name}-${crypto.randomUUID().slice(0, 8)}`;
}
