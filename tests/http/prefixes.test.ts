import { createServer, request } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { httpCases, startHttpRun } from "@millrace/conformance/http";
import { expect, it } from "vitest";
import { memoryBackend, openSuiteTarget } from "./kit/suite-target.ts";

it("89: links hold behind a proxy that strips a prefix", async () => {
  await using target = await openSuiteTarget("node", memoryBackend());
  const inner = new URL(target.url);
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = "" } = incoming;
    const path = url.replace(/^\/deep\/prefix/, "");
    const onward = request({ host: inner.hostname, port: inner.port, method, headers, path });
    onward.once("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  using run = startHttpRun({ ...target, url: `http://127.0.0.1:${port}/deep/prefix` });
  const links = httpCases.filter(({ number }) => number === 89);

  expect(links.length).toBeGreaterThan(0);
  for (const one of links) await one.run(run);
  proxy.closeAllConnections();
  proxy.close();
});
