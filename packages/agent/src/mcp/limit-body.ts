/**
 * A response of which no more is read than allowed: for events each may be that long, for all else
 * the whole. What is longer fails like a broken connection. `onEnd` is called once when nothing more
 * comes, for whichever reason but the reader's own. Looks at each byte once.
 */
export function limitBody(response: Response, limitBytes: number, onEnd?: () => void): Response {
  const { body, headers, status, statusText } = response;
  // Some statuses can't be made anew; they have nothing to read either.
  if (body === null || status < 200) {
    onEnd?.();
    return response;
  }
  const isEvents = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const counter = new EventCounter(isEvents);
  const reader = body.getReader();
  const limited = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) {
          onEnd?.();
          controller.close();
        } else if (counter.add(value) > limitBytes) {
          throw new Error(`the server sent more than ${limitBytes} bytes at once`);
        } else controller.enqueue(value);
      } catch (error) {
        onEnd?.();
        await reader.cancel().catch(() => undefined);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const copy = new Response(limited, { headers, status, statusText });
  // A made response has no address of its own, and redirects are judged by it.
  Object.defineProperty(copy, "url", { value: response.url });
  return copy;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Counts the bytes of the event that is on its way, or of all there are. */
class EventCounter {
  readonly #isEvents: boolean;
  #count = 0;
  #isLineEmpty = false;

  constructor(isEvents: boolean) {
    this.#isEvents = isEvents;
  }

  /** The largest count that was reached within these bytes. */
  add(bytes: Uint8Array): number {
    if (!this.#isEvents) return (this.#count += bytes.length);
    let largest = 0;
    for (const byte of bytes) {
      this.#count += 1;
      if (this.#count > largest) largest = this.#count;
      if (byte === newline) {
        // An empty line ends the event.
        if (this.#isLineEmpty) this.#count = 0;
        this.#isLineEmpty = true;
      } else if (byte !== carriageReturn) this.#isLineEmpty = false;
    }
    return largest;
  }
}
