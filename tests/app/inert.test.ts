// What models, tools, files and people write is shown by the reference app as Markdown or text, and does nothing.
import { showQuestion } from "@millrace/core/reading";
import { visibleText } from "@millrace/client/parts";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openBrowser } from "../browser/kit/browser.ts";
import { goPrompt, hostileAgent, othersOfEach, othersPrompt } from "../browser/kit/hostile.ts";
import { watchActs } from "../browser/kit/watch-acts.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { buildPage, openTab, say, startApp, untilIdle } from "./kit/app.ts";
import { payloadGroups } from "./kit/wrapped.ts";

/** Elements and attributes of messages that neither the page's own program nor Markdown without HTML makes. */
const strangers = `(() => {
  const tags = "A ARTICLE BDI BLOCKQUOTE BUTTON CODE DEL DIV EM FIGCAPTION FIGURE H1 H2 H3 H4 H5 H6 HEADER HR I IMG INPUT LI OL P PRE SECTION SMALL SPAN STRONG SUB SUP TABLE TBODY TD TH THEAD TR UL".split(" ");
  const names = "aria-controls aria-expanded aria-hidden aria-label aria-valuemax aria-valuemin aria-valuenow checked class disabled dir download hidden href id placeholder rel role src alt style tabindex target type value".split(" ");
  const faults = [];
  for (const element of document.querySelectorAll(".column *")) {
    const html = element.outerHTML.slice(0, 120);
    if (!tags.includes(element.tagName)) faults.push("element " + html);
    for (const { name, value } of element.attributes) {
      if (!names.includes(name) && !name.startsWith("data-")) faults.push("attribute " + name + " in " + html);
      if (name === "style" && !/^(text-align: (left|right|center)|inline-size: [\\d.]+%|display: contents);$/.test(value)) faults.push("style " + html);
      if (name === "href" && !/^(https?:|mailto:|blob:)/.test(value)) faults.push("address " + html);
      if (name === "src" && !value.startsWith("blob:")) faults.push("source " + html);
    }
    if (element.tagName === "A" && !element.hasAttribute("download") && !/noopener noreferrer/.test(element.rel)) faults.push("rel " + html);
    if (element.tagName === "INPUT" && element.type !== "checkbox" && element.dataset.part !== "reason") faults.push("field " + html);
  }
  return faults.slice(0, 10);
})()`;

const textsOf = (page: Page, selector: string): Promise<readonly string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`,
  );

it.each(payloadGroups)(
  "hostile texts in every place of the app are shown and do nothing: no script, no request, no forged button, no policy report",
  { timeout: 2 * patience }, // some thousand messages are laid out
  async (payloads) => {
    using page = await buildPage();
    await using app = await startApp(page, { agent: hostileAgent(payloads) });
    await using browser = await openBrowser();
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const whatHappened = await watchActs(context, app.url, "blob:");
    const tab = await openTab(context, app);
    const [first = ""] = payloads.short;
    // As text that a person writes, as a title, as a file's name, in the queue.
    await say(tab, first);
    await tab.locator("article.model").waitFor();
    const refused = await tab.evaluate<string[]>(`(async () => {
      const refused = [];
      const id = decodeURIComponent(location.hash.slice(1));
      const post = (body) => fetch("/agent/v1/sessions/" + id + "/inputs", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
        body: JSON.stringify(body),
      });
      for (const text of ${JSON.stringify(payloads.short.slice(1))}) {
        const parts = [{ kind: "text", text }, { kind: "file", name: text, mediaType: "text/html", bytes: "PHNjcmlwdD4=" }];
        const answer = await post({ kind: "prompt", parts });
        if (!answer.ok) refused.push(answer.status + " " + await answer.text());
      }
      return refused;
    })()`);
    expect(refused).toEqual([]);
    await until(
      async () => (await tab.locator("article.user").count()) >= payloads.short.length,
      "all are sent",
    );
    await untilIdle(tab);
    expect(await textsOf(tab, "article.user p")).toEqual(payloads.short.map(visibleText));
    expect(await textsOf(tab, "article.user .file bdi")).toEqual(
      payloads.short.slice(1).map(visibleText),
    );
    expect(await tab.evaluate(strangers)).toEqual([]);

    await say(tab, othersPrompt);
    await until(
      async () =>
        (await tab.locator("article.model .other, article.model .file").count()) >=
        payloads.short.length * othersOfEach,
      "parts of all kinds are there",
    );
    await untilIdle(tab);
    await say(tab, goPrompt);
    const asks = tab.locator('[data-part="approval"]');
    await until(async () => (await asks.count()) === payloads.short.length, "all is asked");
    const asked = payloads.short.map(
      (city) => showQuestion({ tool: "book", input: { city } }).input,
    );
    expect(await textsOf(tab, '[data-part="approval"] [data-part="input"]')).toEqual(
      asked.map(({ text, counts }) => `${text} ${counts}`.trim()),
    );
    expect(await tab.locator('[data-part="choices"] button').count()).toBe(
      2 * payloads.short.length,
    );
    const thoughts = tab.locator(".think > button");
    expect(await thoughts.count()).toBe(payloads.all.length);
    await until(async () => (await tab.locator(".think > div").count()) === 0, "all are folded");
    await tab.evaluate(
      `for (const fold of document.querySelectorAll(".think > button, [data-part=tool-card] > button")) fold.click()`,
    );
    await until(
      async () => (await tab.locator(".think > div").count()) === payloads.all.length,
      "all are open",
    );
    expect(await textsOf(tab, ".think > div")).toEqual(payloads.all.map(visibleText));
    expect(await tab.evaluate(strangers)).toEqual([]);
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(390);

    // Nothing turns text around or hides in it.
    const hidden = String.raw`/[\u202a-\u202e\u2066-\u2069\u200b\u{e0000}-\u{e007f}]/u`;
    expect(payloads.short.some((text) => text.includes("\u202e"))).toBe(true);
    expect(await tab.evaluate(`${hidden}.exec(document.body.textContent)`)).toBe(null);

    // What looks like HTML is there to be read.
    const shown = new Set(await textsOf(tab, ".md"));
    const html = payloads.short.filter((text) => /^<[a-z]+[^*_`\n&:]*>$/i.test(text));
    expect(html.length).toBeGreaterThan(10);
    const isPlain = payloads.all.includes(html[0] ?? "");
    expect(html.filter((text) => isPlain && !shown.has(text))).toEqual([]);

    // A link is opened by a person, who is shown where it leads.
    await tab.evaluate(`document.querySelector(".md a[href^='http://evil.example']").click()`);
    await tab.getByRole("dialog", { name: "Open a link" }).waitFor();
    expect(await tab.locator("dialog .address").textContent()).toContain("http://evil.example:9/");

    expect(await whatHappened()).toEqual([]);
    expect(app.policyReports()).toBe(0);
    const places = payloads.all.length * 2 + payloads.short.length * (6 + othersOfEach);
    console.log(
      `count: payloads in the app, ${payloads.all.length} in ${places} places, 0 scripts, 0 foreign requests, 0 policy reports`,
    );
  },
);
