import { heartbeatMs } from "../nodes/chaos-agent.ts";

/** How long an answer may have no byte. */
const silentMs = 3 * heartbeatMs;

/**
 * A fetch for the libraries of other vendors, which name an origin of their own and wait for ever on a network
 * that is lost without a sign. An answer without a byte for so long ends, as one does that is cut: a library that
 * is told of the error of a body may end the process.
 */
export function patientFetch(origin: string): typeof fetch {
  return async (input, init) => {
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
      signal: AbortSignal.any([signal, silence.signal]),
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
