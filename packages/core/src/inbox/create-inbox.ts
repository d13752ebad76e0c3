import type { Part } from "../content/part.ts";
import { defaultDraftLimits } from "../delta/draft.ts";
import type { Fault } from "../delta/draft.ts";
import { verifyWhole } from "../delta/verify-part.ts";
import { MillraceError } from "../errors.ts";
import type { TraceContext } from "../event/event.ts";
import { inputId, partId, sessionUid } from "../ids.ts";
import type { InputId } from "../ids.ts";
import { partsToBlobs } from "../ports/blob-parts.ts";
import { randomId } from "../ports/clock.ts";
import { answerCall } from "./answer.ts";
import { decide } from "./decide.ts";
import { checkOptions, checkedJson, takeBackKeyOf } from "./inbox-context.ts";
import type { Checked, InboxContext } from "./inbox-context.ts";
import { newInputId, runIdOf } from "./ids.ts";
import type { Inbox, InboxOptions, InputContent, PostOptions, InboxSendOptions } from "./inbox.ts";
import { InboxState } from "./inbox-state.ts";
import { Poster } from "./post.ts";
import { refuse, refusedBy } from "./posted.ts";
import type { Posted, Refused } from "./posted.ts";
import { stopRun } from "./stop.ts";

/**
 * An inbox of a session that is there. Makes no call until it is used. Throws `invalid_id` for a uid that
 * can't be one.
 */
export function createInbox(options: InboxOptions): Inbox {
  const { makeId = randomId } = options;
  const ports = { ...options, uid: sessionUid(options.uid) };
  const context: InboxContext = {
    poster: new Poster(ports),
    known: new InboxState(ports),
    clientTools: options.clientTools,
  };
  let last: Promise<unknown> = Promise.resolve();
  /** Runs a call after all that were made before it. */
  const inOrder = <T>(
    given: PostOptions,
    call: (checked: Checked) => Promise<T | Refused>,
  ): Promise<T | Refused> => {
    const guarded = async (): Promise<T | Refused> => {
      try {
        return await call(checkOptions(given, options.actor));
      } catch (error) {
        return refusedBy(error);
      }
    };
    const answer = last.then(guarded);
    last = answer;
    return answer;
  };
  const { blobs, tenant } = options;
  /** Before the input is stored: a fact names no blob that is not there. */
  const store = async (parts: readonly Part[]): Promise<readonly Part[]> =>
    blobs === undefined ? parts : partsToBlobs(blobs, { tenant, uid: ports.uid }, parts);
  const input =
    (kind: "prompt" | "steer" | "follow_up") =>
    (content: InputContent, given: InboxSendOptions = {}): Promise<Posted | Refused> =>
      inOrder(given, async ({ keyed, by }) => {
        const id = keyed ?? newInputId(makeId);
        const asked =
          given.options === undefined ? {} : { options: checkedJson(given.options, "options") };
        const traced = given.trace === undefined ? {} : { trace: copyTrace(given.trace) };
        const parts = await store(checkedParts(await partsOf(content)));
        const posted = await context.poster.post(id, {
          type: "input_accepted",
          inputId: id,
          input: { kind, parts, ...asked },
          ...by,
          ...traced,
        });
        if (!posted.accepted) return posted;
        const begun = kind === "prompt" ? { runId: runIdOf(id) } : {};
        const { fact, replayed } = posted;
        return { accepted: true, inputId: id, ...begun, n: fact.n, replayed };
      });
  return {
    send: input("prompt"),
    steer: input("steer"),
    followUp: input("follow_up"),
    takeBack: (id, given = {}) => inOrder(given, ({ by }) => takeBack(context, inputId(id), by)),
    allow: (id, given = {}) =>
      inOrder(given, ({ by }) => decide(context, { id, decision: "allow", ...given, by })),
    deny: (id, given = {}) =>
      inOrder(given, ({ by }) => decide(context, { id, decision: "deny", ...given, by })),
    answer: (call, answer, given = {}) =>
      inOrder(given, ({ by }) => answerCall(context, call, answer, by)),
    abort: (given = {}) => inOrder(given, (checked) => stopRun(context, given, checked)),
    announced: async () => {
      await last;
      await context.poster.announced();
    },
  };
}

/** Copied field by field: nothing else of the caller's object is stored. */
function copyTrace({ traceparent, tracestate }: TraceContext): TraceContext {
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

async function takeBack(
  { poster, known }: InboxContext,
  id: InputId,
  by: Checked["by"],
): Promise<Posted | Refused> {
  const posted = await poster.post(takeBackKeyOf(id), {
    type: "queue_updated",
    inputId: id,
    change: "taken_back",
    ...by,
  });
  if (posted.accepted) {
    return { accepted: true, inputId: id, n: posted.fact.n, replayed: posted.replayed };
  }
  if (posted.reason !== "settled") return posted;
  // Another call may have taken it back, such as a stop of its run.
  await known.catchUp();
  if (known.inputs.get(id)?.takenBack === undefined) await known.readPast();
  const n = known.inputs.get(id)?.takenBack;
  if (n === undefined) return refuse("settled", `the input ${id} is an item already`);
  return { accepted: true, inputId: id, n, replayed: true };
}

/** Throws `invalid_event` for what an item could not hold. */
function checkedParts(parts: readonly Part[]): readonly Part[] {
  const limits = defaultDraftLimits;
  // Too many are refused before each is read.
  const read = parts.length > limits.parts ? [] : parts;
  const fault = read.reduce<Fault | undefined>(
    (found, part) => found ?? verifyWhole(limits, part),
    undefined,
  );
  const wrong = read === parts ? fault?.message : `it has ${parts.length} parts`;
  if (wrong === undefined) return parts;
  const most = `at most ${limits.parts} parts, ${limits.text} characters of text or ${limits.bytes} bytes in each`;
  throw new MillraceError("invalid_event", `an input can't be stored: ${wrong}. Send ${most}`);
}

async function partsOf(content: InputContent): Promise<readonly Part[]> {
  const given = typeof content === "function" ? await content() : content;
  if (typeof given !== "string") return given;
  return [{ kind: "text", id: partId("p1"), text: given.toWellFormed() }];
}
