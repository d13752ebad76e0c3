import { heartbeatMs } from "../nodes/chaos-agent.ts";

/** How long an answer may have no byte. */
const silentMs = 3 * heartbeatMs;

/**
 * A fetch for the libraries of other vendors, which name an origin of their own and wait for ever on a network
 * that is lost without a sign. An answer without a byte for so long ends, as one does that is cut: a library that
 * is told of the error of a body may end the process. Once `left` is aborted nothing is answered any more, so that
 * a reader who would come back for ever ends.
 */
export function patientFetch(origin: string, left: AbortSignal): typeof fetch {
  return async (input, init) => {
    if (left.aborted) return await new Promise<never>(() => undefined);
    const request = new Request(input, init);
    const { url, method, headers, signal } = request;
    const body = await request.text();
    headers.set("authorization", "Bearer ann");
    const silence = new AbortController();
    const stop = (): void => silence.abort();
    let timer = setTimeout(stop, silentMs);
    const answer = await fetch(url.replace("http://localhost", origin), {
      method,
      headers,
      body: body === "" ? null : body,
      signal: AbortSignal.any([signal, silence.signal, left]),
    }).finally(() => clearTimeout(timer));
    const reader = answer.body?.getReader();
    const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
      timer = setTimeout(stop, silentMs);
      const { value } = (await reader?.read().catch(() => undefined)) ?? {};
      clearTimeout(timer);
      if (value === undefined) controller.close();
      else controller.enqueue(value);
    };
    const read = reader === undefined ? null : new ReadableStream({ pull, cancel: stop });
    return new Response(read, { status: answer.status, headers: answer.headers });
  };
}
