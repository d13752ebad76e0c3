import { expect, test, vi, afterEach } from "vitest";
import type { Cause } from "@millrace/core";
import { anthropic } from "./anthropic.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { makeAuthority } from "./testing/certificates.ts";
import { startForwardProxy } from "./testing/forward-proxy.ts";
import type { ForwardProxyOptions } from "./testing/forward-proxy.ts";
import { leakedResources, openResources } from "./testing/resources.ts";
import { startTlsServer } from "./testing/tls-server.ts";
import { ask, hello, toyModel } from "./testing/toy-model.ts";
import { networkFailure } from "./transport/errors.ts";
import type { Network } from "./transport/network.ts";

afterEach(() => void vi.unstubAllEnvs());

const servers = makeAuthority("Acme servers");
const people = makeAuthority("Acme people");
const ann = people.issue("ann");
const stranger = makeAuthority("Others").issue("eve");

const password = "s3cret-of-the-proxy";

async function causeOf(baseUrl: string, network: Network): Promise<Cause> {
  const { reply } = await ask(toyModel(baseUrl, { network, retry: false }));
  expect(JSON.stringify(reply)).not.toContain(password);
  if (reply.cause === undefined) throw new Error(`no cause: ${reply.stop}`);
  return reply.cause;
}

interface Refusal {
  readonly what: string;
  readonly proxy: ForwardProxyOptions;
  readonly expected: Partial<Cause>;
  readonly message: RegExp;
}

const needsLogin = /wants a login \(407\): write it into its address/;
const refusals: readonly Refusal[] = [
  {
    what: "wants another password",
    proxy: { login: "bob:other" },
    expected: { code: "proxy_refused", retryable: false },
    message: needsLogin,
  },
  {
    what: "refuses the address",
    proxy: { refuse: 403 },
    expected: { code: "proxy_refused", retryable: false },
    message: /does not let the request through \(403\): ask its operator/,
  },
  {
    what: "does not reach the server",
    proxy: { refuse: 502 },
    expected: { code: "connection_refused", retryable: true },
    message: /does not reach the server \(502\)/,
  },
  {
    what: "ends the connection",
    proxy: { refuse: "end" },
    expected: { code: "connection_reset", retryable: true },
    message: /ended the connection before it reached the server/,
  },
];

test.each(refusals)(
  "a proxy that $what is a cause with what to do",
  async ({ proxy: options, expected, message }) => {
    await using proxy = await startForwardProxy(options);
    const url = `http://bob:${password}@127.0.0.1:${proxy.port}`;

    const cause = await causeOf("https://127.0.0.1:9", { proxy: url });

    expect(cause).toMatchObject(expected);
    expect(cause.message).toMatch(message);
    expect(cause.message).toContain(`the proxy http://127.0.0.1:${proxy.port}`);
  },
);

test("a proxy that wants a login for a plain request is the same cause", async () => {
  await using server = await startVendorServer({ replies: [] });
  await using proxy = await startForwardProxy({ login: "bob:other" });
  const url = `http://bob:${password}@127.0.0.1:${proxy.port}`;

  const cause = await causeOf(server.url, { proxy: url });

  expect(cause).toMatchObject({ code: "proxy_refused", retryable: false });
  expect(cause.message).toMatch(needsLogin);
  expect(server.requests).toEqual([]);
});

test("a proxy that is not there is named, and may be tried again", async () => {
  const { port } = await (async () => {
    await using gone = await startForwardProxy();
    return gone;
  })();
  const cause = await causeOf("https://127.0.0.1:9", {
    proxy: `http://bob:${password}@127.0.0.1:${port}`,
  });
  expect(cause).toMatchObject({ code: "connection_refused", retryable: true });
  expect(cause.message).toContain(`no connection to the proxy http://127.0.0.1:${port}`);
});

test("a proxy that never answers is ended by the clock for connections, and leaves nothing open", async () => {
  const before = openResources();
  {
    await using proxy = await startForwardProxy({ refuse: "hang" });
    const network = { proxy: proxy.url };
    const options = { network, retry: false, timeouts: { connectMs: 50 } } as const;
    const { reply } = await ask(toyModel("https://127.0.0.1:9", options));
    expect(reply.cause).toMatchObject({ code: "connect_timeout", retryable: true });
  }
  expect(await leakedResources(before)).toEqual([]);
});

test("a proxy of the environment with a scheme of its own is refused with what to do", async () => {
  vi.stubEnv("https_proxy", `socks5://bob:${password}@10.0.0.1:1080`);
  const cause = await causeOf("https://vendor.invalid", {});
  expect(cause).toMatchObject({ code: "bad_request", retryable: false });
  expect(cause.message).toBe(
    'the proxy "socks5://10.0.0.1:1080" can\'t be used: begin its address with http:// or https:// (at https://vendor.invalid/say)',
  );
});

test.each<readonly [string, Network, RegExp]>([
  ["an authority that nobody trusts", ann, /pass its authority's certificate as network\.ca/],
  ["no certificate of the client", { ca: servers.cert }, /pass network\.cert and network\.key/],
  [
    "a certificate of an unknown client",
    { ca: servers.cert, ...stranger },
    /pass network\.cert and network\.key/,
  ],
])(
  "%s is a cause with what to do, also over HTTP/2 and through a proxy",
  async (_, network, message) => {
    await using server = await startTlsServer({
      own: servers.issue("localhost"),
      clients: people,
      answer: (response) => response.end(hello),
    });
    await using proxy = await startForwardProxy();
    for (const http2 of [false, true]) {
      for (const through of [false, proxy.url] as const) {
        const cause = await causeOf(server.url, { ...network, http2, proxy: through });
        expect(cause.message).toMatch(message);
      }
    }
    expect(server.requests).toEqual([]);
  },
);

test.each([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify", /network\.ca/],
  [
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    "40:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:rec.c:918:SSL alert number 116\n",
    /^the request can't be sent: tlsv13 alert certificate required; pass network\.cert/,
  ],
])("%s fails for good, and says what to do", (code, text, message) => {
  const error = Object.assign(new Error(text), { code });
  const cause = networkFailure(error, { reading: false });
  expect(cause).toMatchObject({ code: "protocol", retryable: false, evidence: { error: code } });
  expect(cause.message).toMatch(message);
});

test("a proxy that speaks TLS is trusted by the same authority", async () => {
  const own = servers.issue("localhost");
  await using server = await startTlsServer({ own, answer: (response) => response.end(hello) });
  await using proxy = await startForwardProxy({ secure: own });

  const named = proxy.url.replace("127.0.0.1", "localhost");
  const trusted = toyModel(server.url, { network: { ca: servers.cert, proxy: named } });
  expect((await ask(trusted)).reply.stop).toBe("end");
  const cause = await causeOf(server.url, { proxy: named });

  expect(cause.message).toMatch(/network\.ca/);
  expect(proxy.tunnels).toHaveLength(1);
});

test.each<readonly [string, object, RegExp]>([
  [
    "a path instead of a certificate",
    { ca: "/etc/ssl/corp.pem" },
    /content of a PEM file with a certificate, not its path/,
  ],
  ["a list with one", { ca: [servers.cert, "corp.pem"] }, /content of a PEM file/],
  [
    "a path instead of a key",
    { cert: ann.cert, key: "/etc/ssl/key.pem" },
    /with a private key, not its path/,
  ],
  ["a certificate without its key", { cert: ann.cert }, /belong together: pass both/],
  [
    "a proxy without its scheme",
    { proxy: `bob:${password}@proxy.corp:3128` },
    /use an address such as/,
  ],
  ["another library's option", { rejectUnauthorized: false }, /pass the server's authority as ca/],
])("%s is refused at the door", (_, network, message) => {
  const make = (): unknown => anthropic("m", { network });
  expect(make).toThrow(message);
  expect(make).not.toThrow(new RegExp(password));
});

test("a network beside the caller's own fetch is refused at the door", () => {
  const make = (): unknown => anthropic("m", { fetch, network: { http2: true } });
  expect(make).toThrow(/give your fetch its proxy/);
});
