import { expect, test } from "vitest";
import { isExcepted, proxyFor } from "./proxy.ts";
import type { ProxyChoice } from "./proxy.ts";

type Environment = Readonly<Record<string, string>>;

const proxy = "http://proxy.corp:3128";

test.each<readonly [string, string, Environment, string | undefined]>([
  ["HTTPS_PROXY", "https://api.test", { HTTPS_PROXY: proxy }, proxy],
  [
    "https_proxy before HTTPS_PROXY",
    "https://api.test",
    { https_proxy: proxy, HTTPS_PROXY: "x" },
    proxy,
  ],
  [
    "an empty https_proxy as none",
    "https://api.test",
    { https_proxy: "", HTTPS_PROXY: proxy },
    undefined,
  ],
  ["HTTP_PROXY not for https", "https://api.test", { HTTP_PROXY: proxy }, undefined],
  ["HTTP_PROXY for http", "http://api.test", { HTTP_PROXY: proxy }, proxy],
  [
    "HTTP_PROXY not under CGI",
    "http://api.test",
    { HTTP_PROXY: proxy, REQUEST_METHOD: "GET" },
    undefined,
  ],
  ["http_proxy under CGI", "http://api.test", { http_proxy: proxy, REQUEST_METHOD: "GET" }, proxy],
  ["a host without a scheme", "https://api.test", { HTTPS_PROXY: "proxy.corp:3128" }, proxy],
  ["a login without a scheme", "https://api.test", { HTTPS_PROXY: "a:b@p:1" }, "http://a:b@p:1"],
  ["nothing for localhost", "http://localhost:11434", { HTTP_PROXY: proxy }, undefined],
  ["nothing for 127.0.0.1", "https://127.0.0.1:8443", { HTTPS_PROXY: proxy }, undefined],
  ["nothing for ::1", "https://[::1]:8443", { HTTPS_PROXY: proxy }, undefined],
  ["NO_PROXY", "https://api.test", { HTTPS_PROXY: proxy, NO_PROXY: "api.test" }, undefined],
  [
    "no_proxy before NO_PROXY",
    "https://api.test",
    { HTTPS_PROXY: proxy, no_proxy: "", NO_PROXY: "*" },
    proxy,
  ],
])("the environment is read: %s", (_, url, environment, expected) => {
  expect(proxyFor(new URL(url), {}, environment)).toBe(expected);
});

test.each<readonly [string, string, ProxyChoice, string | undefined]>([
  ["false is none", "https://api.test", { proxy: false }, undefined],
  [
    "one that is set counts before the environment",
    "https://api.test",
    { proxy: "https://own:1" },
    "https://own:1",
  ],
  [
    "one that is set counts for this machine",
    "http://localhost:1",
    { proxy: "http://own:1" },
    "http://own:1",
  ],
  [
    "noProxy excepts from it",
    "https://api.test",
    { proxy: "http://own:1", noProxy: "test" },
    undefined,
  ],
  ["NO_PROXY does not", "https://no.test", { proxy: "http://own:1" }, "http://own:1"],
  ["noProxy alone replaces NO_PROXY", "https://no.test", { noProxy: "api.test" }, proxy],
])("what the program sets comes first: %s", (_, url, choice, expected) => {
  const environment = { HTTPS_PROXY: proxy, NO_PROXY: "no.test" };
  expect(proxyFor(new URL(url), choice, environment)).toBe(expected);
});

test.each<readonly [string, string, boolean]>([
  ["*", "https://api.test", true],
  ["api.test", "https://API.test", true],
  ["test", "https://api.test", true],
  [".test", "https://api.test", true],
  ["*.test", "https://api.test", true],
  [".api.test", "https://api.test", true],
  ["pi.test", "https://api.test", false],
  ["a.test, api.test", "https://api.test", true],
  ["a.test api.test", "https://api.test", true],
  ["api.test:443", "https://api.test", true],
  ["api.test:8443", "https://api.test", false],
  ["api.test:8443", "https://api.test:8443", true],
  ["api.test:80", "http://api.test", true],
  ["10.0.0.0/8", "https://10.1.2.3", true],
  ["10.0.0.0/8", "https://11.1.2.3", false],
  ["10.0.0.0/99", "https://10.1.2.3", false],
  ["10.1.2.3", "https://10.1.2.3", true],
  ["2.3", "https://10.1.2.3", false],
  ["fd00::/8", "https://[fd12::1]", true],
  ["[fd12::1]", "https://[fd12::1]", true],
  ["[fd12::1]:8443", "https://[fd12::1]:8443", true],
  ["[fd12::1]:8443", "https://[fd12::1]", false],
  ["fd12::1", "https://[fd12::1]", true],
  [",,", "https://api.test", false],
  ["", "https://api.test", false],
])("the list %j and %s: %s", (list, url, expected) => {
  expect(isExcepted(new URL(url), list)).toBe(expected);
});
