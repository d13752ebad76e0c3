import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Item, Model } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import { abortedCause, createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { commitOf, partId } from "@millrace/core/writing";
import type { Ending } from "@millrace/core/writing";
import { z } from "zod";
import { sealed, textOfItem } from "../../kit/deployment/paced-agent.ts";
import { latePiece, parseAsk, startPiece } from "./ask.ts";
import type { Ask } from "./ask.ts";

const id = "load/model";

/**
 * An agent whose model emits by a plan, as a vendor does whose reader is slow: what is late comes at once,
 * and the plan does not move. Its replies and results say when they were asked for.
 */
export function loadAgent(): Agent {
  const model: Model = {
    id,
    stream: (request) => {
      const { ask, answered } = askedIn(request.transcript);
      if (answered < (ask.rounds ?? 0)) return callStep(answered).stream(request);
      const produce = (writer: ReplyWriter): Promise<Ending> => write(ask, writer);
      return createModelStream({ model: id, signal: request.signal, produce });
    },
  };
  const step = defineTool({
    name: "step",
    input: z.object({ n: z.number() }),
    effect: "pure",
    run: () => startPiece(Date.now()),
  });
  return defineAgent({ model, tools: [step] });
}

/** The last prompt of a transcript, and the calls that were answered since. */
function askedIn(transcript: readonly Item[]): { readonly ask: Ask; readonly answered: number } {
  const last = transcript.findLastIndex(({ author }) => author === "user");
  const answered = transcript.slice(last).filter(({ author }) => author === "tool").length;
  return { ask: parseAsk(textOfItem(transcript[last])), answered };
}

function callStep(n: number): Model {
  const parts = [say(startPiece(Date.now())), call("step", { n }, { callId: `call_${n}` })];
  return scriptedModel([parts], { id, chunk: "whole" });
}

async function write(ask: Ask, { emit, draft, signal }: ReplyWriter): Promise<Ending> {
  const { deltas, perSecond, silentMs = 0 } = ask;
  const part = partId("p1");
  let body = "";
  const append = (chunk: string): void => {
    body += chunk;
    emit({ op: "append_text", partId: part, chunk });
  };
  const first = performance.now() + silentMs;
  emit({ op: "begin_part", partId: part, kind: "text" });
  append(startPiece(Date.now()));
  for (let at = 0; at < deltas; at += 1) {
    const due = first + (at * 1_000) / perSecond;
    const earlyMs = due - performance.now();
    if (earlyMs > 0) await systemClock.sleep(earlyMs, signal);
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    append(latePiece(performance.now() - due));
  }
  append(sealed(body).slice(body.length));
  const commit = commitOf(draft(), part);
  if (commit !== undefined) emit(commit);
  return { stop: "end", evidence: "plan" };
}
