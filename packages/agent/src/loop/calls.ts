import type { ItemId } from "@millrace/core";
import type { ToolSettings, LoopSettings } from "../definition/loop-settings.ts";
import type { Action, Answer, AnswerReason, ReadyCall } from "./action.ts";
import { answerInputIdOf } from "./ids.ts";
import type { CallStanding, LoopState, ReplyStanding, CallVerdict } from "./state.ts";
import type { ToolLabel } from "../definition/labels.ts";

/**
 * The next action for the calls of a reply that have no result. Undefined if all of them are running,
 * or wait for a person or a client. Calls run only if the reply ended with the stop reason `tools`:
 * otherwise the reply was cut, and the model may have wanted other calls.
 */
export function answerCalls(
  state: LoopState,
  reply: ReplyStanding,
  open: readonly CallStanding[],
): Action | undefined {
  if (reply.stop !== "tools") return settleCalls(state, open, "reply_not_whole");
  const lost = open.filter((call) => isLost(state, call) && !mayRepeat(state, call));
  if (lost.length > 0) return settle(lost.map(lostAnswer));
  const waiting = open.filter((call) => isAwaited(state, call));
  const answered = answerWaiting(state, waiting);
  if (answered !== undefined) return answered;
  const idle = open.filter((call) => !isUnderWay(state, call.itemId) && !waiting.includes(call));
  return startCalls(state, idle);
}

/**
 * The next step for calls that are not running: assess all, then settle the refused ones, then request
 * approvals, then execute. Each step is one action for all calls that need it.
 */
function startCalls(state: LoopState, idle: readonly CallStanding[]): Action | undefined {
  const fresh = idle.filter((call) => !state.doing.verdicts.has(call.itemId));
  if (fresh.length > 0) {
    return state.doing.assessing ? undefined : { do: "assess", calls: fresh };
  }
  const refused = idle.flatMap((call) => refusalOf(state, call) ?? []);
  if (refused.length > 0) return settle(refused);
  const questions = idle.flatMap((call) => {
    const verdict = verdictOf(state, call);
    return verdict?.decision === "ask" && !isAsked(call, verdict.hash)
      ? [{ call, hash: verdict.hash }]
      : [];
  });
  if (questions.length > 0) {
    const { approvalSeconds: seconds } = state.settings;
    return { do: "ask", questions, ...(seconds === undefined ? {} : { seconds }) };
  }
  const fitting = fittingCalls(
    state,
    idle.flatMap((call) => readyCall(state, call) ?? []),
  );
  // Local calls start first, because a client may take long to answer.
  const calls = fitting.filter((call) => !isClient(state, call));
  if (calls.length > 0) return { do: "execute", calls };
  return fitting.length > 0 ? { do: "await_client", calls: fitting } : undefined;
}

/** Settles calls that will not run. */
export function settleCalls(
  state: LoopState,
  calls: readonly CallStanding[],
  why: AnswerReason,
): Action {
  return settle(answersTo(state, calls, why));
}

/**
 * The answers to calls that will not run. A call that a lost process had started is `lost` instead of `why`,
 * because it may have taken effect.
 */
export function answersTo(
  state: LoopState,
  calls: readonly CallStanding[],
  why: AnswerReason,
): readonly Answer[] {
  return calls.map((call): Answer => {
    if (isLost(state, call) && mayHaveActed(state, call)) return lostAnswer(call);
    return { call, status: "aborted", why: isAwaited(state, call) ? "unanswered" : why };
  });
}

/** The next action for calls with a client's answer in the queue: check the answers, then settle. */
function answerWaiting(state: LoopState, waiting: readonly CallStanding[]): Action | undefined {
  const inputs = new Set<string>(state.standing.queue.map(({ inputId }) => inputId));
  const given = waiting.filter(({ itemId }) => inputs.has(answerInputIdOf(itemId)));
  const unchecked = given.filter(({ itemId }) => !state.doing.answers.has(itemId));
  if (unchecked.length > 0) return { do: "check_answers", calls: unchecked };
  const answers = given.map((call): Answer => {
    const status = state.doing.answers.get(call.itemId) ?? "failed";
    return { call, status, why: "answered" };
  });
  return answers.length > 0 ? settle(answers) : undefined;
}

function settle(answers: readonly Answer[]): Action {
  return { do: "settle", answers };
}

function lostAnswer(call: CallStanding): Answer {
  return { call, status: "unknown", why: "lost" };
}

/**
 * True if the call was started, has no result and does not run here: its process has ended. Does not
 * compare incarnations, because an engine may restart a worker without a new claim.
 */
function isLost(state: LoopState, call: CallStanding): boolean {
  const { started, itemId } = call;
  return started !== undefined && !isUnderWay(state, itemId) && !isClient(state, call);
}

/** True while a client works on the call. Its answer may come at any time. */
function isAwaited(state: LoopState, call: CallStanding): boolean {
  return call.started !== undefined && isClient(state, call);
}

function isUnderWay({ doing }: LoopState, itemId: ItemId): boolean {
  return doing.calls.has(itemId);
}

function isClient(state: LoopState, call: CallStanding): boolean {
  return settingsOf(state, call)?.client === true;
}

function settingsOf({ settings }: LoopState, { tool }: CallStanding): ToolSettings | undefined {
  return Object.hasOwn(settings.tools, tool) ? settings.tools[tool] : undefined;
}

/** A tool that the agent no longer has counts as effectful, so its calls are not repeated. */
function mayRepeat(state: LoopState, call: CallStanding): boolean {
  const effect = settingsOf(state, call)?.effect ?? "effectful";
  return effect !== "effectful";
}

/** True if a lost execution may have taken effect: always, unless its tool is pure. */
function mayHaveActed(state: LoopState, call: CallStanding): boolean {
  return settingsOf(state, call)?.effect !== "pure";
}

/** What was assessed, and at least a question for a call that completes the three labels. */
export function verdictOf(state: LoopState, call: CallStanding): CallVerdict | undefined {
  const verdict = state.doing.verdicts.get(call.itemId);
  const asks = verdict?.decision === "allow" && completesLabels(state, call);
  return asks ? { ...verdict, decision: "ask" } : verdict;
}

/** The result of a call that its assessment refused, a person denied, or no approval came for in time. */
function refusalOf(state: LoopState, call: CallStanding): Answer | undefined {
  const verdict = verdictOf(state, call);
  if (verdict?.decision === "refuse") return { call, status: verdict.status, why: "refused" };
  const { approval } = call;
  if (verdict?.decision !== "ask" || approval?.hash !== verdict.hash) return undefined;
  if (approval.answer?.decision === "deny") return { call, status: "denied", why: "denied" };
  return isExpired(state, approval) ? { call, status: "denied", why: "expired" } : undefined;
}

function isExpired(
  { settings, now }: LoopState,
  { askedAt, answer }: NonNullable<CallStanding["approval"]>,
): boolean {
  const { approvalSeconds } = settings;
  if (approvalSeconds === undefined) return false;
  // An answer may be stored while no process drives the session, so compare its own time, not `now`.
  return (answer?.at ?? now) >= askedAt + approvalSeconds * 1_000;
}

/** True if the latest approval request is about this exact input. One about another input does not count. */
function isAsked({ approval }: CallStanding, hash: string): boolean {
  return approval?.hash === hash;
}

function readyCall(state: LoopState, call: CallStanding): ReadyCall | undefined {
  const verdict = verdictOf(state, call);
  if (verdict === undefined || verdict.decision === "refuse") return undefined;
  const { hash } = verdict;
  const { approval } = call;
  const approved = approval?.hash === hash && approval.answer?.decision === "allow";
  return verdict.decision === "allow" || approved ? { ...call, hash } : undefined;
}

/**
 * The calls that may start now beside those that run, in the order of the reply. At most
 * `settings.parallel` run here at once; calls of clients do not count. A tool with `alone` starts only
 * while no other call runs or waits for a client, and no call starts beside it.
 */
function fittingCalls(state: LoopState, ready: readonly ReadyCall[]): readonly ReadyCall[] {
  const { doing, settings, standing } = state;
  const alone = (call: CallStanding): boolean => settingsOf(state, call)?.alone === true;
  const all = standing.run?.turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const running = all.filter(({ itemId }) => doing.calls.has(itemId));
  const awaited = all.filter((call) => isAwaited(state, call));
  if ([...running, ...awaited].some(alone)) return [];
  const chosen: ReadyCall[] = [];
  let beside = running.length;
  for (const call of ready) {
    const client = isClient(state, call);
    if (!client && beside >= settings.parallel) break;
    if (alone(call)) {
      const first = chosen.length === 0 && running.length + awaited.length === 0;
      return first ? [call] : chosen;
    }
    chosen.push(call);
    if (!client) beside += 1;
  }
  return chosen;
}

/** How many labels there are. */
const allLabels = 3;

/**
 * True if the tool of a call has a label and the session has all three with it: by the tools whose results
 * the transcript holds, and by the calls of the same reply, which may run beside it. It follows from facts
 * and settings alone, and stays true for a call, so every driver asks the same.
 */
function completesLabels({ settings, standing }: LoopState, call: CallStanding): boolean {
  if (settings.allLabels === "allow" || !labelsOf(settings, call.tool)?.length) return false;
  const ran = standing.ran.map((tool) => labelsOf(settings, tool));
  // A tool that the agent no longer has may have had any label. One that it never had is refused.
  if (ran.includes(undefined)) return true;
  const beside = (standing.run?.turn?.reply?.calls ?? []).map(({ tool }) =>
    labelsOf(settings, tool),
  );
  return new Set([...ran, ...beside].flatMap((labels) => labels ?? [])).size === allLabels;
}

/** The labels of a tool. `undefined` if the agent has no such tool. */
function labelsOf({ tools }: LoopSettings, tool: string): readonly ToolLabel[] | undefined {
  return Object.hasOwn(tools, tool) ? (tools[tool]?.labels ?? []) : undefined;
}
