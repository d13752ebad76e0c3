import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, WorkAction } from "../loop/action.ts";
import { callPart } from "../loop/facts.ts";
import type { CallStanding, RunStanding, TurnStanding } from "../loop/state.ts";
import { assessCall, prepareCall } from "../tool/assess.ts";
import type { AssessContext } from "../tool/assess.ts";
import { checkAnswers } from "../work/client-answer.ts";
import { compactContext } from "../work/compaction.ts";
import { execute } from "../work/execution.ts";
import { HeldAttempt } from "../work/held-attempt.ts";
import { checkOutput } from "../work/output.ts";
import { getReply } from "../work/reply.ts";
import { respond } from "../work/respond/respond.ts";
import { readableItems, toolsByName } from "../work/tools.ts";
import type { DriveContext } from "./drive-context.ts";

/**
 * Starts the work of an action. Its result becomes a fact later, or is kept in the turn's memory; both
 * wake the driver. Starts nothing if the run or the turn is over by now: the next decision sees that.
 */
export async function begin(drive: DriveContext, action: WorkAction): Promise<void> {
  const here = placeOf(drive);
  if (here === undefined) return;
  const { run, turn } = here;
  switch (action.do) {
    case "reply":
      return beginReply(drive, run, action);
    case "respond":
      return beginRespond(drive, { runId: run.runId, turnId: turn.turnId });
    case "assess":
      return drive.underWay.beginAssessing(() => assess(drive, here, action.calls));
    case "execute":
      for (const call of action.calls) beginCall(drive, here, call);
      return;
    case "check_answers":
      for (const [itemId, answer] of await checkAnswers(drive.host, action.calls))
        drive.memory.setAnswer(itemId, answer);
      return;
    case "compact":
      return beginCompaction(drive, turn, action);
    case "check_output":
      return drive.memory.setOutput(await checkOutput(drive.host));
    case "interrupt":
      return drive.underWay.stop();
    default:
      action satisfies never;
  }
}

interface Place {
  readonly run: RunStanding;
  readonly turn: TurnStanding;
}

function placeOf({ host }: DriveContext): Place | undefined {
  const { run } = host.journal.standing;
  return run?.turn === undefined ? undefined : { run, turn: run.turn };
}

function beginReply(
  drive: DriveContext,
  { runId }: RunStanding,
  { turnId, itemId }: ActionOf<"reply">,
): void {
  const { host, epochs, memory, underWay } = drive;
  const replaced = memory.takeHeld();
  const opened = memory.takeOpened(itemId);
  const ahead = drive.ahead({ reply: true });
  underWay.beginReply(async (signal) => {
    await replaced?.drop(); // the new attempt writes the same lane
    const offered = (names: readonly string[]): void => memory.offer(names);
    const place = { runId, turnId, itemId, opened };
    const failed = await getReply(host, epochs, { ...place, signal, offered, ahead });
    if (failed !== undefined) memory.hold(failed, host.random());
  });
}

function beginRespond(
  { host, epochs, underWay, report }: DriveContext,
  place: { readonly runId: RunStanding["runId"]; readonly turnId: TurnStanding["turnId"] },
): void {
  underWay.beginReply(async (signal) => {
    const ending = await respond(host, epochs, { ...place, signal });
    if (signal.aborted) return; // the loop ends the turn, and shows the stop where no item was cut
    const closes = epochs.last();
    const { runId, turnId } = place;
    const finished: FactBody[] = [
      { type: "turn_finished", runId, turnId, stop: ending.stop, closes },
    ];
    // The cause is known only here, so the run's end is stored together with the turn's.
    if (ending.stop === "failed" || ending.stop === "truncated") {
      const { cause } = ending;
      finished.push({ type: "run_finished", runId, closes, outcome: "failed", cause });
    }
    await report(finished);
  });
}

async function assess(
  drive: DriveContext,
  here: Place,
  calls: readonly CallStanding[],
): Promise<void> {
  const { host, memory } = drive;
  const context = assessContext(drive, here);
  // Read before the first await: a run that is stopped ends without waiting for the assessment.
  const parts = calls.map((call) => callPart(host.journal.state, here.turn, call));
  for (const [index, { itemId }] of calls.entries()) {
    const part = parts[index];
    if (part === undefined) continue;
    if (host.journal.standing.run?.runId !== here.run.runId) return;
    const { verdict, input } = await assessCall(part, { ...context, itemId });
    if (verdict.decision !== "refuse") memory.setInput(itemId, { value: input });
    memory.setVerdict(itemId, verdict);
  }
}

/** Runs a call. The call is prepared again and does not run unless its hash equals the assessed one. */
function beginCall(
  drive: DriveContext,
  here: Place,
  call: ActionOf<"execute">["calls"][number],
): void {
  const { host, epochs, memory, underWay, toolHost } = drive;
  const { itemId, hash } = call;
  const part = callPart(host.journal.state, here.turn, call);
  if (part?.input === undefined) return;
  const asked = part.input;
  const context = { ...assessContext(drive, here), itemId };
  underWay.beginCall(itemId, async (signal) => {
    const prepared = await prepareCall(part, context, memory.takeInput(itemId));
    if ("refusal" in prepared) return memory.setVerdict(itemId, prepared.refusal);
    if (prepared.hash !== hash) {
      const message = "not run: what would run now is not what was assessed. Ask for it again";
      return memory.setVerdict(itemId, { decision: "refuse", status: "denied", message });
    }
    const { tool, input } = prepared;
    const place = { runId: here.run.runId, turnId: here.turn.turnId };
    await execute(host, epochs, {
      ...place,
      call,
      tool,
      asked,
      input,
      signal,
      toolHost: (lane) => toolHost(lane.epoch),
      ahead: drive.ahead({ call: itemId }),
    });
  });
}

function assessContext(
  { host, memory }: DriveContext,
  { run }: Place,
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
  drive: DriveContext,
  { turnId }: TurnStanding,
  { runId, itemId }: ActionOf<"compact">,
): void {
  const { host, epochs, memory, underWay, report } = drive;
  const replaced = memory.takeHeld();
  underWay.beginCompaction(async (signal) => {
    await replaced?.drop();
    const came = await compactContext(host, epochs, { runId, turnId, itemId, signal });
    if (came instanceof HeldAttempt) memory.hold(came, host.random());
    else await report(came);
  });
}
