/**
 * Replaces clocks, timers and randomness of the runtime by those of the simulation. Import it before anything
 * of the product: modules that read a global when they are loaded get the replaced one.
 */
import { createHash } from "node:crypto";
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { ScheduledEvent } from "./event-heap.ts";
import { simulation } from "./simulation.ts";

/** The hour at which every history begins. */
const beginning = Date.UTC(2026, 0, 1);

/** A timer as Node returns it. */
class SimulatedTimer {
  event: ScheduledEvent | undefined;

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): this {
    if (this.event !== undefined) simulation().cancel(this.event);
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

type Call = (...values: readonly unknown[]) => void;

function after(call: Call, ms: unknown = 0, ...values: readonly unknown[]): SimulatedTimer {
  const timer = new SimulatedTimer();
  const { process } = simulation();
  const delay = Math.max(1, Number(ms) || 0);
  timer.event = simulation().schedule(delay, process, "timer", () => call(...values), {
    isTimer: true,
  });
  return timer;
}

function every(call: Call, ms: unknown = 0, ...values: readonly unknown[]): SimulatedTimer {
  const timer = new SimulatedTimer();
  const again = (): void => {
    timer.event = after(() => {
      again();
      call(...values);
    }, ms).event;
  };
  again();
  return timer;
}

function soon(call: Call, ...values: readonly unknown[]): SimulatedTimer {
  const timer = new SimulatedTimer();
  const { process } = simulation();
  timer.event = simulation().schedule(0, process, "immediate", () => call(...values), {
    isTimer: true,
  });
  return timer;
}

function clear(timer: unknown): void {
  if (timer instanceof SimulatedTimer) timer.close();
}

function sleep(
  ms: number,
  value: unknown,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = after(() => resolve(value), ms);
    const end = (): void => {
      clear(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) end();
    signal?.addEventListener("abort", end, { once: true });
  });
}

function wallClock(): number {
  const { now, process } = simulation();
  return Math.floor(beginning + now + process.skewMs);
}

function fill<T extends ArrayBufferView>(view: T): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const { random } = simulation().process;
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.below(256);
  return view;
}

function randomUuid(): string {
  const hex = Buffer.from(fill(new Uint8Array(16))).toString("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`];
  return [...parts, `a${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}

/** The real one computes on another thread, and answers after a real time. */
function digestNow(algorithm: string | { readonly name: string }, data: BufferSource) {
  const name = (typeof algorithm === "string" ? algorithm : algorithm.name).replace("-", "");
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
  const digest = createHash(name.toLowerCase()).update(bytes).digest();
  return Promise.resolve(
    digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.byteLength),
  );
}

function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
  after(() => controller.abort(reason), ms);
  return controller.signal;
}

/** Caches hold weakly what the garbage collector may take at any moment: here they hold it. */
class StrongRef<T extends WeakKey> {
  readonly #target: T;

  constructor(target: T) {
    this.#target = target;
  }

  deref(): T {
    return this.#target;
  }
}

function replace(target: object, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

const timers = {
  setTimeout: after,
  setInterval: every,
  setImmediate: soon,
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
};
const RealDate = Date;
const SimulatedDate = new Proxy(RealDate, {
  construct: (target, values: unknown[], made) =>
    Reflect.construct(target, values.length > 0 ? values : [wallClock()], made) as Date,
  apply: () => new RealDate(wallClock()).toString(),
  get: (target, name) => (name === "now" ? wallClock : (Reflect.get(target, name) as unknown)),
});

replace(globalThis, { ...timers, Date: SimulatedDate, WeakRef: StrongRef });
replace(performance, {
  now: () => simulation().now,
  eventLoopUtilization: () => ({ active: 0, idle: 0, utilization: 0 }),
});
replace(Math, { random: () => simulation().process.random.next() });
replace(crypto, { getRandomValues: fill, randomUUID: randomUuid });
replace(crypto.subtle, { digest: digestNow });
replace(AbortSignal, { timeout: abortAfter });

const require = createRequire(import.meta.url);
const randomBytes = (size: number): Buffer => Buffer.from(fill(new Uint8Array(size)));
replace(require("node:crypto") as object, {
  randomUUID: randomUuid,
  randomBytes,
  randomFillSync: fill,
});
replace(require("node:timers") as object, timers);
replace(require("node:timers/promises") as object, {
  setTimeout: sleep,
  setImmediate: (value: unknown) => new Promise((resolve) => void soon(() => resolve(value))),
});
syncBuiltinESMExports();
