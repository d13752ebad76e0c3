// The unstyled parts as a server renders them: what they say in each state, and that text stays text.
import { ApprovalCard, ConnectionBanner, InputQueue, ToolCard } from "@millrace/client/parts";
import type { ToolCardPart } from "@millrace/client/parts";
import { callId, inputId, partId } from "@millrace/core/writing";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

const evil = `<img src=x onerror="tripwire()">\u202e`;
const base = {
  kind: "tool_call",
  id: partId("p"),
  live: false,
  callId: callId("c"),
  tool: "weather",
  raw: "{}",
  input: {},
} as const;
const card = (part: ToolCardPart): string =>
  renderToStaticMarkup(createElement(ToolCard, { part }));
const sent = { accepted: Promise.resolve({ accepted: true } as const) };

it("a tool card names its tool and state, closed details, and progress as a progress bar", () => {
  const html = card({ ...base, state: "running", text: "", message: "3 of 4" });

  expect(html).toContain('aria-label="weather, running"');
  expect(html).toContain('data-state="running"');
  expect(html).toContain('aria-expanded="false"');
  expect(html).toMatch(/role="progressbar"[^>]*aria-valuenow="75"/);
  expect(card({ ...base, state: "finished", output: "ok", text: "" })).not.toContain("progressbar");
});

it("text of models, tools and people is text in all of them, and what is hidden in it is shown", () => {
  const approval = {
    ask: { id: "a", tool: evil, input: { evil } },
    onAllow: () => sent,
    onDeny: () => sent,
  };
  const queue = [{ id: inputId("i"), kind: "steer" as const, text: evil }];
  const pages = [
    card({ ...base, tool: evil, state: "failed", message: evil }),
    card({ ...base, raw: evil, state: "writing", input: undefined }),
    renderToStaticMarkup(createElement(ApprovalCard, approval as never)),
    renderToStaticMarkup(createElement(InputQueue, { queue, onTakeBack: () => undefined })),
  ];

  for (const html of pages) {
    expect(html).not.toContain("<img");
    expect(html).not.toContain("\u202e");
    expect(html).toContain("&lt;img");
  }
});

it("labels are given in another language", () => {
  const labels = { running: "läuft" };
  const part: ToolCardPart = { ...base, state: "running", text: "" };
  const html = renderToStaticMarkup(createElement(ToolCard, { part, labels }));

  expect(html).toContain('aria-label="weather, läuft"');
});

it("a banner is there for screen readers and says nothing while the connection is live; an empty queue is nothing", () => {
  const onReconnect = (): void => undefined;
  const banner = createElement(ConnectionBanner, { connection: "live", onReconnect });

  expect(renderToStaticMarkup(banner)).toBe(
    '<div role="status" data-part="connection" data-state="live"></div>',
  );
  expect(
    renderToStaticMarkup(createElement(InputQueue, { queue: [], onTakeBack: () => undefined })),
  ).toBe("");
});
