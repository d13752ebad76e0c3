import { expect, it } from "vitest";
import { hostOf, safeUrl } from "./links.ts";

it("only addresses of the web and of mail are links", () => {
  expect(safeUrl("https://example.com/a?b=c")).toBe("https://example.com/a?b=c");
  expect(safeUrl("HTTP://EXAMPLE.com")).toBe("http://example.com/");
  expect(safeUrl("mailto:ann@example.com")).toBe("mailto:ann@example.com");
});

it.each([
  "javascript:alert(1)",
  " java\tscript:alert(1)",
  "JAVASCRIPT:alert(1)",
  "data:text/html,<script>x</script>",
  "vbscript:x",
  "blob:http://127.0.0.1/x",
  "file:///etc/passwd",
  "//evil.example",
  "/agent/v1/sessions",
  "#other-session",
  "",
  undefined,
])("%j is no link", (href) => {
  expect(safeUrl(href)).toBeUndefined();
});

it("the host is shown as it is asked for, not as it looks", () => {
  expect(hostOf("https://bank.com@evil.example/")).toBe("evil.example");
  expect(hostOf(safeUrl("https://аpple.com") ?? "")).toBe("xn--pple-43d.com");
  expect(hostOf("mailto:ann@example.com")).toBe("ann@example.com");
});

it.each(["mailto:%ff", "mailto:%", "mailto:%E0%A4"])(
  "of %s, which is no UTF-8, the address is shown as it is written",
  (url) => {
    expect(hostOf(safeUrl(url) ?? "")).toBe(url.slice("mailto:".length));
  },
);
