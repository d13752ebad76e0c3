import { heartbeatMs } from "../nodes/chaos-agent.ts";

/** How long an answer may have no byte. */
const silentMs = 3 * heartbeatMs;

/**
 * A fetch for the libraries of other vendors, which wait for ever on a network that is lost without a sign: an
 * answer without a byte for so long fails. One that is cut ends, if `endsAtCut`, as if that was all.
 */
export function patientFetch({ endsAtCut = false } = {}): typeof fetch {
  return async (url, init) => {
    const given = new AbortController();
    let timer = setTimeout(() => given.abort(), silentMs);
    const renew = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => given.abort(), silentMs);
    };
    const signal = AbortSignal.any([given.signal, ...(init?.signal ? [init.signal] : [])]);
    try {
      const answer = await fetch(url, { ...init, signal });
      renew();
      const body = answer.body && counted(answer.body, { renew, endsAtCut, timer: () => timer });
      if (body === null) clearTimeout(timer);
      const { status, headers } = answer;
      return new Response(body, { status, headers });
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
  };
}

interface Counting {
  readonly renew: () => void;
  readonly endsAtCut: boolean;
  readonly timer: () => NodeJS.Timeout;
}

function counted(
  body: ReadableStream<Uint8Array>,
  { renew, endsAtCut, timer }: Counting,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { value, done } = await reader.read();
        renew();
        if (!done) return controller.enqueue(value);
      } catch (error) {
        clearTimeout(timer());
        if (!endsAtCut) return controller.error(error);
      }
      clearTimeout(timer());
      controller.close();
    },
    cancel: async (reason) => {
      clearTimeout(timer());
      await reader.cancel(reason).catch(() => undefined); // it has failed already
    },
  });
}
