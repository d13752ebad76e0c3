import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, WorkAction } from "../loop/action.ts";
import { callPart } from "../loop/facts.ts";
import type { CallStanding, RunStanding, TurnStanding } from "../loop/state.ts";
import { assessCall, prepareCall } from "../tool/assess.ts";
import type { AssessContext } from "../tool/assess.ts";
import { checkAnswers } from "../work/client-answer.ts";
import { compactContext } from "../work/compaction.ts";
import { execute } from "../work/execution.ts";
import { RetryableAttempt } from "../work/retryable-attempt.ts";
import { checkOutput } from "../work/output.ts";
import { guidanceFacts } from "../work/guidance.ts";
import { getReply } from "../work/reply.ts";
import { respond } from "../work/respond/respond.ts";
import { readableItems, toolsByName } from "../work/tools.ts";
import type { ActionHost } from "./action-host.ts";

/**
 * Starts the work of an action. Its result becomes a fact later, or is kept in the turn's memory; both
 * wake the driver. Starts nothing if the run or the turn is over by now: the next decision sees that.
 */
export async function begin(actions: ActionHost, action: WorkAction): Promise<void> {
  const { run } = actions.host.journal.standing;
  if (run?.turn === undefined) return;
  const { turn } = run;
  const open = { run, turn };
  switch (action.do) {
    case "reply":
      return beginReply(actions, run, action);
    case "respond":
      return beginRespond(actions, run, turn);
    case "assess":
      return actions.work.beginAssessing(() => assess(actions, open, action.calls));
    case "execute":
      for (const call of action.calls) beginCall(actions, open, call);
      return;
    case "check_answers":
      for (const [itemId, answer] of await checkAnswers(actions.host, action.calls))
        actions.work.memory.setAnswer(itemId, answer);
      return;
    case "compact":
      return beginCompaction(actions, turn, action);
    case "check_output":
      return actions.work.memory.setOutput(await checkOutput(actions.host));
    case "interrupt":
      return actions.work.stop();
    default:
      action satisfies never;
  }
}

interface OpenTurn {
  readonly run: RunStanding;
  readonly turn: TurnStanding;
}

function beginReply(
  actions: ActionHost,
  { runId }: RunStanding,
  { turnId, itemId }: ActionOf<"reply">,
): void {
  const { host, epochs } = actions;
  const { memory, sent } = actions.work;
  const replaced = memory.takeFailed();
  const opened = memory.takeOpened(itemId);
  const ahead = actions.ahead({ reply: true });
  const report = (facts: readonly FactBody[]): Promise<void> => actions.report(facts);
  const guide = async (): Promise<void> => {
    if (memory.guided === "yes") return;
    const facts = await guidanceFacts(host, { runId, turnId }, memory.guided === "asks");
    if (facts.length > 0) await report(facts);
    memory.setGuided();
  };
  actions.start("reply", async (signal) => {
    await replaced?.drop(); // the new attempt writes the same lane
    const offered = (names: readonly string[]): void => memory.offer(names);
    const reply = { runId, turnId, itemId, opened, signal, guide, sent, report, offered, ahead };
    const failed = await getReply(host, epochs, reply);
    if (failed !== undefined) memory.setFailed(failed, host.random());
  });
}

function beginRespond(actions: ActionHost, { runId }: RunStanding, { turnId }: TurnStanding): void {
  const { host, epochs } = actions;
  actions.start("reply", async (signal) => {
    const ending = await respond(host, epochs, { runId, turnId, signal });
    if (signal.aborted) return; // the loop ends the turn, and shows the stop where no item was cut
    const closes = epochs.last();
    const finished: FactBody[] = [
      { type: "turn_finished", runId, turnId, stop: ending.stop, closes },
    ];
    // The cause is known only here, so the run's end is stored together with the turn's.
    if (ending.stop === "failed" || ending.stop === "truncated") {
      const { cause } = ending;
      finished.push({ type: "run_finished", runId, closes, outcome: "failed", cause });
    }
    await actions.report(finished);
  });
}

async function assess(
  actions: ActionHost,
  open: OpenTurn,
  calls: readonly CallStanding[],
): Promise<void> {
  const { host } = actions;
  const { memory } = actions.work;
  const context = assessContext(actions, open);
  // Read before the first await: a run that is stopped ends without waiting for the assessment.
  const parts = calls.map((call) => callPart(host.journal.state, open.turn, call));
  for (const [index, { itemId }] of calls.entries()) {
    const part = parts[index];
    if (part === undefined) continue;
    if (host.journal.standing.run?.runId !== open.run.runId) return;
    const { verdict, input } = await assessCall(part, { ...context, itemId });
    if (verdict.decision !== "refuse") memory.setInput(itemId, { value: input });
    memory.setVerdict(itemId, verdict);
  }
}

/** Runs a call. The call is prepared again and does not run unless its hash equals the assessed one. */
function beginCall(
  actions: ActionHost,
  open: OpenTurn,
  call: ActionOf<"execute">["calls"][number],
): void {
  const { host, epochs } = actions;
  const { memory } = actions.work;
  const { itemId, hash } = call;
  const part = callPart(host.journal.state, open.turn, call);
  if (part?.input === undefined) return;
  const asked = part.input;
  const context = { ...assessContext(actions, open), itemId };
  actions.start(itemId, async (signal) => {
    const prepared = await prepareCall(part, context, memory.takeInput(itemId));
    if ("refusal" in prepared) return memory.setVerdict(itemId, prepared.refusal);
    if (prepared.hash !== hash) {
      const message = "not run: what would run now is not what was assessed. Ask for it again";
      return memory.setVerdict(itemId, { decision: "refuse", status: "denied", message });
    }
    const { tool, input } = prepared;
    await execute(host, epochs, {
      runId: open.run.runId,
      turnId: open.turn.turnId,
      call,
      tool,
      asked,
      input,
      signal,
      toolHost: (lane) => actions.toolHost(lane.epoch),
      ahead: actions.ahead({ call: itemId }),
    });
  });
}

function assessContext(
  { host, work: { memory } }: ActionHost,
  { run }: OpenTurn,
): Omit<AssessContext, "itemId"> {
  const { agent, info, uid, journal } = host;
  return {
    tools: toolsByName(agent, () => readableItems(journal), memory.offered),
    rules: agent.rules,
    beforeTool: agent.hooks.beforeTool,
    session: info,
    uid,
    runId: run.runId,
  };
}

function beginCompaction(
  actions: ActionHost,
  { turnId }: TurnStanding,
  { runId, itemId }: ActionOf<"compact">,
): void {
  const { host, epochs } = actions;
  const { memory } = actions.work;
  const replaced = memory.takeFailed();
  actions.start("compaction", async (signal) => {
    await replaced?.drop();
    const came = await compactContext(host, epochs, { runId, turnId, itemId, signal });
    if (came instanceof RetryableAttempt) memory.setFailed(came, host.random());
    else await actions.report(came);
  });
}
