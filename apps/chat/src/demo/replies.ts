// What the demo's model replies: chosen by the last item of the transcript, so that it needs no memory.
import type { Model, Part } from "@millrace/core";
import { call, fail, say, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { denied, done, essay, finding, thought } from "./texts.ts";

type Transcript = Parameters<Model["stream"]>[0]["transcript"];

/** The reply to a transcript: to the results of its own calls, else to what the person wrote. */
export function replyTo(transcript: Transcript): readonly ScriptedPart[] {
  const replied = transcript.findLastIndex(({ author }) => author === "model");
  const parts = transcript.slice(replied + 1).flatMap((item) => item.parts);
  const results = parts.filter((part) => part.kind === "tool_result");
  const said = parts.filter((part) => part.kind !== "tool_result");
  if (results.length === 0) return withUsage(transcript, afterUser(said));
  const steered = said.length > 0 ? [say(`Noted: ${textIn(said)}\n\n`)] : [];
  return withUsage(transcript, [...steered, ...afterTools(results)]);
}

/** The reply of the colleague that works on its own. */
export function colleagueReplyTo(transcript: Transcript): readonly ScriptedPart[] {
  const isBegun = transcript.some(({ author }) => author === "tool");
  const reply = isBegun
    ? [say("The runbook says: build indexes **concurrently**, one at a time, and watch the lag.")]
    : [think("The page on indexes is what they need."), call("read_runbook", { page: "indexes" })];
  return withUsage(transcript, reply);
}

function afterTools(results: readonly Part[]): readonly ScriptedPart[] {
  const called = new Set(results.map((part) => (part.kind === "tool_result" ? part.tool : "")));
  if (called.has("run_sql")) {
    const isRun = results.some((part) => part.kind === "tool_result" && part.status === "ok");
    return [say(isRun ? done : denied)];
  }
  if (called.has("colleague")) return [say("Your colleague has read it: build it *concurrently*.")];
  if (called.has("explain"))
    return [
      say(finding),
      call("run_sql", {
        database: "production",
        sql: "create index concurrently orders_customer_id_idx on orders (customer_id);",
      }),
    ];
  return [
    think("One statement stands out. Its plan will tell whether the index is gone."),
    say(
      "The metrics host is away, but the log is enough. One statement stands out; I look at its plan.",
    ),
    call("explain", {
      sql: "select * from orders where customer_id = $1 order by created_at desc",
    }),
  ];
}

function afterUser(parts: readonly Part[]): readonly ScriptedPart[] {
  const text = textIn(parts);
  const files = parts.filter((part) => part.kind === "media" || part.kind === "file");
  if (files.length > 0) return [say(aboutFiles(files))];
  if (/fail/i.test(text))
    return [
      say("I begin to answer, and then"),
      fail("overloaded", "the demo's model is overloaded, and gave up after 3 attempts"),
    ];
  if (/colleague|runbook|sub-?agent/i.test(text))
    return [
      say("I ask a colleague, who works in a session of its own. Open the card to watch."),
      call("colleague", { prompt: "What does the runbook say about building indexes?" }),
    ];
  if (/slow|p95|checkout|latency/i.test(text))
    return [
      think(thought),
      say(
        "I'll line the deploys up with the latency first, then read the slow queries from the same hour.",
      ),
      call("deploys", { service: "checkout", since: "Tuesday" }),
      call("metrics", { metric: "checkout_p95", window: "7d" }),
      call("slow_queries", { from: "14:00", to: "15:00" }),
    ];
  if (/how|long|text|page|markdown/i.test(text))
    return [think("A long answer, with everything in it."), say(essay)];
  return [
    say(
      `You wrote: “${text.slice(0, 200)}”. This model plays a script; try one of the suggestions of a new session.`,
    ),
  ];
}

function aboutFiles(files: readonly Part[]): string {
  const rows = files.map((part) =>
    part.kind === "file" || part.kind === "media"
      ? `| ${part.kind === "file" ? part.name : "image"} | \`${part.mediaType}\` |`
      : "",
  );
  return `I got ${files.length === 1 ? "one file" : `${files.length} files`}:\n\n| name | type |\n| --- | --- |\n${rows.join("\n")}`;
}

function textIn(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
}

/** A reply with what it used. Four characters are about a token: near enough for a script. */
function withUsage(
  transcript: Transcript,
  reply: readonly ScriptedPart[],
): readonly ScriptedPart[] {
  const inputTokens = 1_200 + Math.ceil(JSON.stringify(transcript).length / 4);
  const outputTokens = Math.ceil(JSON.stringify(reply).length / 4);
  const cost = (inputTokens * 3 + outputTokens * 15) / 1e6;
  // First: an ending ends the script.
  return [{ usage: { inputTokens, outputTokens, cachedTokens: 0, cost } }, ...reply];
}
