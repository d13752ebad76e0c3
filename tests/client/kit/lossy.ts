/** A way to a server that loses what it is told to lose. */
export interface LossyNetwork {
  readonly fetch: typeof fetch;
  /** From now on each request fails at once, as where nothing listens. */
  isAway: boolean;
  /**
   * The next request whose method and path match gets no answer (`head`), or the head of one and half of its
   * body (`body`). Nothing fails: only the signal of the request ends it.
   */
  readonly lose: (pattern: RegExp, where: "head" | "body") => void;
  /** The requests that were lost, with their idempotency keys, and those that went the same way later. */
  readonly lost: readonly string[];
  readonly passed: readonly string[];
  /** Requests that are under way. */
  readonly underWay: () => number;
}

/** Makes a way to any server. */
export function lossyNetwork(): LossyNetwork {
  const lost: string[] = [];
  const passed: string[] = [];
  let losing: { readonly pattern: RegExp; readonly where: "head" | "body" } | undefined;
  let count = 0;
  const network = {
    isAway: false,
    lost,
    passed,
    underWay: () => count,
    lose: (pattern: RegExp, where: "head" | "body") => void (losing = { pattern, where }),
    fetch: async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
      if (network.isAway) throw new TypeError("nothing listens");
      const { pathname, search } = new URL(input as string);
      const key = new Headers(init.headers).get("idempotency-key") ?? "no key";
      const line = `${init.method} ${pathname}${search} ${key}`;
      const { pattern, where } = losing ?? {};
      if (pattern?.test(line) !== true) {
        passed.push(line);
        count += 1;
        return await fetch(input, init).finally(() => (count -= 1));
      }
      losing = undefined;
      lost.push(line);
      if (where === "head") return await untilAborted(init.signal);
      const response = await fetch(input, init);
      const whole = new Uint8Array(await response.arrayBuffer());
      const half = new ReadableStream<Uint8Array>({
        start: (body) => {
          body.enqueue(whole.slice(0, whole.length >> 1));
          init.signal?.addEventListener("abort", () => body.error(init.signal?.reason));
        },
      });
      return new Response(half, response);
    },
  };
  return network;
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error));
  });
}
