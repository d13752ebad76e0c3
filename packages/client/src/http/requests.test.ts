import { systemClock } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { Requests } from "./requests.ts";

/** An answer of 204 as browsers give it: with a body that is empty. */
function emptyAnswer(): Response {
  const body = new ReadableStream({ start: (controller) => controller.close() });
  return Object.defineProperty(new Response(null, { status: 204 }), "body", { value: body });
}

test("an answer without content ends its request, also where it has an empty body", async () => {
  let asked = 0;
  const requests = new Requests({
    url: "http://server",
    token: undefined,
    random: () => 0,
    clock: systemClock,
    fetch: () => {
      asked += 1;
      return Promise.resolve(emptyAnswer());
    },
  });
  const stop = new AbortController();
  const answered = requests.untilAnswered("/inputs/1", { method: "DELETE", signal: stop.signal });
  const late = new Promise((resolve) => setTimeout(() => resolve("not answered"), 1_000));

  expect(await Promise.race([answered, late])).toEqual({ ok: true, status: 204, json: {} });
  expect(asked).toBe(1);
  stop.abort();
});
