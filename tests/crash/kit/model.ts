import { abortedCause, createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import type { ModelRequest } from "@millrace/core/ports";
import type { Model, Usage } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { fail, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import type { Boundaries } from "./boundaries.ts";
import type { Gates } from "./gates.ts";
import type { Tally } from "./tally.ts";

/**
 * The replies of a model, by the last part of the request: the user's text, or the call whose
 * result came last. So a turn that is requested again after a crash gets the same reply, whatever
 * state the process lost. `summary` answers a request for one, `correction` a request to mend a
 * misshapen answer.
 */
export type Replies = Readonly<Record<string, Answer>>;

/**
 * A function gets how often this was requested before: the count outlives the process, as a
 * vendor's would.
 */
type Answer =
  | readonly ReplyPart[]
  | ((asked: number, request: ModelRequest) => readonly ReplyPart[]);

/** A part of a scripted reply, or a wait at a gate after so many deltas. */
type ReplyPart = ScriptedPart | Wait;

interface Wait {
  readonly gate: string;
  readonly after: number;
}

export function wait(gate: string, after: number): Wait {
  return { gate, after };
}

export interface ModelPorts {
  readonly boundaries: Boundaries;
  readonly gates: Gates;
  readonly requests: Tally;
}

/** Deltas after which a process may end, for each reply. */
const deltasWatched = 6;

/** A model that answers by its table, with boundaries before, within and after each reply. */
export function tableModel(replies: Replies, ports: ModelPorts): Model {
  const id = "table/model";
  return {
    id,
    stream: (request) =>
      createModelStream({
        model: id,
        signal: request.signal,
        produce: (writer) => produce(replies, ports, request, writer),
      }),
  };
}

async function produce(
  replies: Replies,
  { boundaries, gates, requests }: ModelPorts,
  request: ModelRequest,
  writer: ReplyWriter,
): Promise<Ending & { readonly usage?: Usage | undefined }> {
  const key = keyOf(request);
  const asked = requests.lines().filter((line) => line === key).length;
  requests.add(key);
  boundaries.cross("before the model");
  const parts = partsFor(replies, key, asked, request);
  const waits = parts.filter((part) => "gate" in part);
  const script = parts.filter((part): part is ScriptedPart => !("gate" in part));
  const { signal } = writer;
  const inner = scriptedModel([script], { chunk: [8] }).stream({ ...request, signal });
  let count = 0;
  for await (const delta of inner) {
    for (const { gate } of waits.filter(({ after }) => after === count))
      await gates.pass(gate, signal);
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    writer.emit(delta);
    count += 1;
    if (count <= deltasWatched) boundaries.cross("within a reply");
  }
  for (const { gate } of waits.filter(({ after }) => after >= count))
    await gates.pass(gate, signal);
  if (signal.aborted) return { stop: "aborted", cause: abortedCause };
  const { parts: _, model: __, ...ending } = await inner.result;
  boundaries.cross("before the model's result");
  return ending;
}

/** What the model is asked last. */
function keyOf({ transcript }: Pick<ModelRequest, "transcript">): string {
  if (transcript[0]?.id === "record") return "summary";
  const part = transcript.at(-1)?.parts.at(-1);
  if (part?.kind === "tool_result") return part.callId;
  const text = part?.kind === "text" ? part.text : "";
  return text.startsWith("Your answer has not the shape") ? "correction" : text;
}

/** The reply to a request, by the table. */
function partsFor(
  replies: Replies,
  key: string,
  asked: number,
  request: ModelRequest,
): readonly ReplyPart[] {
  const answer = replies[key];
  if (answer === undefined) return [fail("no_reply", `the table has no reply to ${key}`)];
  return typeof answer === "function" ? answer(asked, request) : answer;
}
