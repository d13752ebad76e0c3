// What a page of this measurement notes: when each delta was there. In the page.

/** By number, in milliseconds since 1970 by the page's clock. */
export interface Noted {
  /** When the program was told of it. */
  readonly called: readonly number[];
  /** When the frame that shows it was finished. */
  readonly shown: readonly number[];
}

const [called, shown]: [number[], number[]] = [[], []];

/** The page's time. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

/** Notes all deltas up to the last one in a text. */
function note(times: number[], text: string): void {
  const last = Number(/w(\d{5});[^;]*$/.exec(text.slice(-24))?.[1] ?? -1);
  const now = nowMs();
  while (times.length <= last) times.push(now);
}

/** Called with the reply by whoever is told of a change. */
export function take(reply: string): void {
  note(called, reply);
}

/** Looks after every frame at what the page shows, and makes what the measurement calls. */
export function install(start: () => void): void {
  const { port1, port2 } = new MessageChannel();
  const look = (): void =>
    note(shown, document.querySelector("#reply")?.lastChild?.nodeValue ?? "");
  port1.addEventListener("message", look);
  port1.start();
  const frame = (): void => {
    port2.postMessage(undefined);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  Object.assign(globalThis, { start, nowMs, noted: (): Noted => ({ called, shown }) });
}
