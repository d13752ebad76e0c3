import { expect, test, vi } from "vitest";
import { httpProgram } from "../testing/http-program.ts";
import type { RequestLine } from "./exchange.ts";

test("a request is told once, with its route, its answer and its caller, and with no content", async () => {
  const lines: RequestLine[] = [];
  const { ask } = httpProgram({ onRequest: (line) => void lines.push(line) });
  await ask("/v1/sessions?q=secret", "owner");
  expect(lines).toMatchObject([
    { method: "GET", route: "listSessions", status: 200, tenant: "acme", user: "ann" },
  ]);
  expect(JSON.stringify(lines)).not.toContain("secret");
});

test.each([
  ["throws", (): unknown => fail()],
  ["rejects", (): unknown => Promise.reject(new Error("the log is full"))],
])("a listener of requests that %s changes no answer, and logs a warning", async (_, onRequest) => {
  const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  const { ask } = httpProgram({ onRequest });
  expect((await ask("/v1/sessions", "owner")).status).toBe(200);
  expect((await ask("/v1/sessions/none", "owner")).status).toBe(404);
  // A run of another file in this process may warn too.
  const messages = warned.mock.calls.map(([message]) => String(message));
  expect(messages.filter((message) => message.includes("onRequest failed"))).toMatchObject([
    expect.stringContaining("onRequest failed: the log is full"),
    expect.stringContaining("onRequest failed: the log is full"),
  ]);
  warned.mockRestore();
});

function fail(): never {
  throw new Error("the log is full");
}
