import { manualClock } from "@millrace/core/testing";
import { afterEach, expect, it, vi } from "vitest";
import { createClient } from "./client.ts";
import { memoryOutbox } from "./outbox/outbox.ts";

afterEach(() => void vi.restoreAllMocks());

/** A server that is away, is full, hangs, and is silent after it has answered. */
function badServer(): { readonly fetch: typeof fetch; readonly asked: () => number } {
  let asked = 0;
  const call: typeof fetch = (_, { signal } = {}) => {
    asked += 1;
    if (asked % 4 === 0) return Promise.resolve(new Response(": hello\n\n"));
    if (asked % 4 === 1) return Promise.reject(new TypeError("away"));
    const headers = { "retry-after": "7" };
    if (asked % 4 === 2) return Promise.resolve(new Response("{}", { status: 503, headers }));
    return new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  };
  return { fetch: call, asked: () => asked };
}

it("all of a client's time is its clock's and all its chance its random's: an hour passes in an instant", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const intervals = vi.spyOn(globalThis, "setInterval");
  const dates = vi.spyOn(Date, "now");
  const chance = vi.spyOn(Math, "random");
  const play = async (): Promise<readonly [number, number]> => {
    const clock = manualClock(1_000_000);
    const { fetch, asked } = badServer();
    let draws = 0;
    const client = createClient({
      url: "http://bad.test",
      token: async () => await Promise.resolve("ann"),
      fetch,
      clock,
      random: () => (draws = (draws * 7 + 0.13) % 1),
      outbox: memoryOutbox(),
    });
    const session = client.session("one");
    session.subscribe(() => undefined);
    const leave = client.session("two").subscribe(() => undefined);
    void session.send("Hi");
    void client.session("three").send("Hi");
    void client.sessions().catch(() => undefined);
    leave();
    await clock.advance(3_600_000);
    client.close();
    await clock.advance(60_000);
    expect(clock.sleepers()).toBe(0); // nothing is left behind
    return [asked(), draws];
  };
  const first = await play();
  expect(first[0]).toBeGreaterThan(300);
  expect(await play()).toEqual(first);
  for (const spy of [timers, intervals, dates, chance]) expect(spy).not.toHaveBeenCalled();
});
