import { networkFailure } from "./errors.ts";
import type { Exchange, ExchangeEvents, Send } from "./exchange.ts";

/** Sends with the caller's `fetch`: for proxies, tests, and runtimes without undici. */
export function fetchSend(fetch: typeof globalThis.fetch): Send {
  return (exchange, events, signal) => void exchangeBy(fetch, exchange, events, signal);
}

async function exchangeBy(
  fetch: typeof globalThis.fetch,
  { url, headers, body }: Exchange,
  events: ExchangeEvents,
  signal: AbortSignal,
): Promise<void> {
  let reading = false;
  try {
    const pending = fetch(url, {
      method: "POST",
      headers: { ...headers },
      body,
      signal,
      redirect: "manual",
    });
    events.connected(); // `fetch` does not report when
    const response = await pending;
    if (signal.aborted) return await response.body?.cancel();
    reading = true;
    events.responded({
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      decoded: true,
    });
    const reader = response.body?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (signal.aborted) return await reader?.cancel();
      if (done) return events.ended();
      events.received(value);
    }
  } catch (error) {
    if (!signal.aborted) events.failed(networkFailure(error, { reading }));
  }
}
