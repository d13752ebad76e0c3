import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { httpProgram } from "../testing/http-program.ts";
import type { DialectRoute } from "../http/dialect.ts";

/** A route whose answer Node refuses to write: a header can't have these characters. */
const unwritable: DialectRoute = {
  name: "unwritable",
  path: "/unwritable",
  method: "GET",
  summary: "A header",
  actions: [],
  signedIn: true,
  key: "none",
  query: {},
  request: { kind: "none" },
  answers: { 200: { summary: "Never sent" } },
  problems: [],
  stream: "never",
  cacheControl: "no-store",
  bucket: "requests",
  work: async () => ({ status: 200, headers: { "millrace-run": "\u65e5" }, json: {} }),
};

test("an answer that can't be written closes its connection with a warning, and the process goes on", async () => {
  const uncaught = vi.fn<(error: unknown) => void>();
  process.on("unhandledRejection", uncaught);
  onTestFinished(() => void process.off("unhandledRejection", uncaught));
  using warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  const { millrace } = httpProgram({ dialects: [{ name: "odd", routes: [unwritable] }] });
  const server = createServer(millrace.node).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = { authorization: "Bearer owner" };

  const signal = AbortSignal.timeout(2_000);
  await expect(fetch(`${url}/unwritable`, { headers, signal })).rejects.toThrow("fetch failed");
  expect((await fetch(`${url}/v1/sessions`, { headers })).status).toBe(200);
  expect(uncaught).not.toHaveBeenCalled();
  expect(String(warned.mock.calls.at(-1)?.[0])).toContain("the answer to a GET can't be written");
});
