import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import type { Model } from "@millrace/core";
import { until } from "../../../tests/kit/until.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock, bedrockAnthropic } from "./bedrock.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat } from "./openai.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { makeAuthority } from "./testing/certificates.ts";
import { recordedStreams } from "./testing/fixtures.ts";
import { startForwardProxy } from "./testing/forward-proxy.ts";
import { leakedResources, openResources } from "./testing/resources.ts";
import { startTlsServer } from "./testing/tls-server.ts";
import type { TlsServer, TlsServerOptions } from "./testing/tls-server.ts";
import { ask, hello, toyModel } from "./testing/toy-model.ts";
import type { Network } from "./transport/network.ts";

afterEach(() => void vi.unstubAllEnvs());

const servers = makeAuthority("Acme servers");
const people = makeAuthority("Acme people");
const client = people.issue("ann");
const mutual = { ca: servers.cert, ...client };

/** Every protocol with a recorded stream. A protocol that is added belongs here. */
const protocols: readonly {
  readonly name: string;
  readonly make: (options: { baseUrl: string; apiKey: string; network: Network }) => Model;
  readonly scenario: string;
}[] = [
  { name: "anthropic-messages", make: (o) => anthropic("claude-sonnet-5", o), scenario: "hello" },
  { name: "openai-responses", make: (o) => openai("gpt-5", o), scenario: "text" },
  { name: "openai-chat", make: (o) => openaiChat("gpt-5", o), scenario: "text" },
  { name: "gemini", make: (o) => gemini("gemini-3-pro", o), scenario: "text" },
  { name: "bedrock-converse", make: (o) => bedrock("amazon.nova-pro-v1:0", o), scenario: "text" },
  {
    name: "bedrock-anthropic",
    make: (o) => bedrockAnthropic("anthropic.claude-sonnet-5", o),
    scenario: "hello",
  },
];

function streamOf(protocol: string, scenario: string): Uint8Array {
  const found = recordedStreams(protocol).find(({ name }) => name === scenario);
  if (found === undefined) throw new Error(`${protocol} has no stream ${scenario}`);
  return found.bytes;
}

const events = "text/event-stream";
const typeOf = (protocol: string): string =>
  protocol.startsWith("bedrock-") ? "application/vnd.amazon.eventstream" : events;

/** A server that streams a body in pieces, with a certificate of the private authority. */
function serve(
  body: Uint8Array | string,
  more: Partial<TlsServerOptions> = {},
  type: string = events,
): Promise<TlsServer> {
  return startTlsServer({
    own: servers.issue("localhost"),
    clients: people,
    answer: (response) => {
      response.writeHead(200, { "content-type": type });
      const bytes = Buffer.from(body);
      for (let at = 0; at < bytes.length; at += 100) response.write(bytes.subarray(at, at + 100));
      response.end();
    },
    ...more,
  });
}

for (const { name, make, scenario } of protocols) {
  test.each([
    { http2: false, alpn: "http/1.1" },
    { http2: true, alpn: "h2" },
  ])(
    `${name} streams through a proxy to a server with a private authority, over $alpn`,
    async ({ http2, alpn }) => {
      const body = streamOf(name, scenario);
      await using server = await serve(body, {}, typeOf(name));
      await using proxy = await startForwardProxy({ login: "bob:s3cret-word" });
      const uri = proxy.url.replace("//", "//bob:s3cret-word@");
      const network = { ...mutual, proxy: uri, http2 };

      const model = make({ baseUrl: server.url, apiKey: "key-of-vendor", network });
      const direct = make({
        baseUrl: server.url,
        apiKey: "k",
        network: { ...network, proxy: false },
      });
      const reply = await model.stream({ transcript: [] }).result;

      expect(reply).toMatchObject({ stop: "end" });
      expect(reply).toEqual(await direct.stream({ transcript: [] }).result);
      const [first, second] = server.requests;
      expect(first).toMatchObject({ alpn, client: "ann" });
      expect(second).toMatchObject({ alpn, client: "ann", path: first?.path });
      // One of the two went through the proxy, with its whole body, and encrypted.
      expect(proxy.tunnels).toEqual([new URL(server.url).host]);
      expect(proxy.bytesBack()).toBeGreaterThan(body.length);
      expect(proxy.tunnelled().includes("key-of-vendor")).toBe(false);
    },
  );

  test(`${name} streams through a proxy that passes plain requests on`, async () => {
    const body = streamOf(name, scenario);
    const reply = { body, headers: { "content-type": typeOf(name) }, chunks: { seed: 5 } };
    await using server = await startVendorServer({ replies: [reply] });
    await using proxy = await startForwardProxy();

    const model = make({ baseUrl: server.url, apiKey: "k", network: { proxy: proxy.url } });

    expect((await model.stream({ transcript: [] }).result).stop).toBe("end");
    expect(proxy.passed).toEqual([server.url + (server.requests[0]?.path ?? "")]);
    expect(proxy.bytesBack()).toBe(body.length);
  });
}

test("connections are used again, directly and through a proxy, and leave nothing open", async () => {
  const before = openResources();
  {
    await using server = await serve(hello);
    await using proxy = await startForwardProxy();
    for (const proxyUrl of [false, proxy.url] as const) {
      for (const http2 of [false, true]) {
        const at = server.requests.length;
        for (let count = 0; count < 6; count += 1) {
          // Each time a model of its own: the network is what connections belong to.
          const network = { ...mutual, proxy: proxyUrl, http2 };
          expect((await ask(toyModel(server.url, { network }))).reply.stop).toBe("end");
        }
        const used = server.requests.slice(at).map(({ connection }) => connection);
        // A reply is over with its last event, and its connection free with the end of the body a moment later.
        expect(new Set(used).size).toBeLessThanOrEqual(http2 ? 1 : 2);
      }
    }
    expect(proxy.tunnels.length).toBeLessThanOrEqual(3);
  }
  expect(await leakedResources(before)).toEqual([]);
});

test("over HTTP/2 replies share a connection and end with it; over HTTP/1.1 each has its own", async () => {
  for (const http2 of [true, false]) {
    await using server = await serve("", {
      answer: (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write('data: {"say":"Hel"}\n\n');
      },
    });
    const network = { ...mutual, proxy: false as const, http2 };
    const replies = [1, 2, 3].map(() => ask(toyModel(server.url, { network, retry: false })));
    await until(() => server.requests.length === 3, "three requests");
    expect(server.openSockets()).toBe(http2 ? 1 : 3);
    server.cut();
    for (const { reply } of await Promise.all(replies)) {
      expect(["truncated", "failed"]).toContain(reply.stop);
      expect(reply.cause?.retryable).toBe(true);
    }
  }
});

test("a reply that is left over HTTP/2 ends alone", async () => {
  await using server = await serve("", {
    answer: (response, path) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"say":"Hel"}\n\n');
      if (path.startsWith("/whole")) setTimeout(() => response.end(hello), 50);
    },
  });
  const network = { ...mutual, proxy: false as const, http2: true };
  const stopped = new AbortController();
  const left = ask(toyModel(server.url, { network }), stopped.signal);
  const stays = ask(toyModel(`${server.url}/whole`, { network }));
  await until(() => server.requests.length === 2, "two requests");
  stopped.abort();
  expect((await left).reply.stop).toBe("aborted");
  expect((await stays).reply.stop).toBe("end");
  expect(server.openSockets()).toBe(1);
});

test("idle connections of any kind don't keep a process alive", async () => {
  await using server = await serve(hello);
  await using proxy = await startForwardProxy();
  const given = JSON.stringify({ url: server.url, network: { ...mutual, proxy: proxy.url } });
  const program = fileURLToPath(new URL("testing/network-run.ts", import.meta.url));

  const { stdout } = await promisify(execFile)(process.execPath, [
    "--conditions=@millrace/source",
    program,
    given,
  ]);

  expect(JSON.parse(stdout)).toEqual({ stops: ["end", "end", "end", "end"], left: [] });
  expect(server.requests.map(({ alpn }) => alpn)).toEqual(["http/1.1", "http/1.1", "h2", "h2"]);
});

test("the proxy of the environment is asked, at the moment of the request, but never for this machine", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello }] });
  await using proxy = await startForwardProxy({ refuse: 502 });
  const far = toyModel("https://vendor.invalid", { retry: false });
  const near = toyModel(server.url);

  vi.stubEnv("HTTPS_PROXY", proxy.url);
  vi.stubEnv("HTTP_PROXY", proxy.url);
  expect((await ask(far)).reply.cause?.message).toContain(`the proxy ${proxy.url} does not reach`);
  expect((await ask(near)).reply.stop).toBe("end");

  expect(proxy.tunnels).toEqual(["vendor.invalid:443"]);
  expect(proxy.passed).toEqual([]);
});
