import type { BodyOf, FactBody, Item, Part, ToolCallPart } from "@millrace/core";
import { partId } from "@millrace/core";
import { respond } from "../respond/respond.ts";
import { assessCall } from "../tool/assess.ts";
import type { Action, Answer } from "./action.ts";
import { compactContext } from "./compaction.ts";
import type { Driver } from "./drive.ts";
import { execute } from "./execution.ts";
import { answerInputIdOf, approvalIdOf, effectKeyOf, inputItemIdOf } from "./ids.ts";
import { checkOutput } from "./output.ts";
import { getReply } from "./reply.ts";
import type { CallStanding, RunStanding, TurnStanding } from "./state.ts";
import { toolsByName } from "./tools.ts";
import { toolHostOf } from "./tool-host.ts";

/**
 * Does what was decided. What is only a fact is stored at once; what takes long is begun, and what
 * comes of it is a fact later. If the head has moved meanwhile nothing was done, and it is decided anew.
 */
export async function perform(driver: Driver, action: Action): Promise<void> {
  switch (action.do) {
    case "wait":
      return;
    case "begin_turn":
      return await beginTurn(driver, action);
    case "reply":
      return beginReply(driver, action);
    case "respond":
      return beginRespond(driver);
    case "assess":
      return driver.beginAssessing(() => assess(driver, action.calls));
    case "ask":
      return await ask(driver, action);
    case "execute":
      return beginCalls(driver, action.calls);
    case "settle":
      return await settle(driver, action.answers);
    case "finish_turn": {
      const { run } = here(driver);
      const { turnId, stop } = action;
      const closes = driver.epochs.last();
      const finished = { type: "turn_finished", runId: run.runId, turnId, stop, closes } as const;
      await driver.record([finished]);
      return;
    }
    case "compact":
      return await compact(driver, action);
    case "check_output":
      return driver.setOutput(await checkOutput(driver.host));
    case "correct":
      return await correct(driver, action);
    case "interrupt":
      return driver.interrupt();
    case "abandon_reply":
      return await abandonReply(driver, action);
    case "finish_run": {
      const { runId, outcome } = action;
      const closes = driver.epochs.last();
      await driver.record([{ type: "run_finished", runId, closes, ...outcome }]);
      return;
    }
    default:
      action satisfies never;
  }
}

/** How long a sub-agent may take to stop that its parent has lost. */
const abandonMs = 10_000;

type ActionOf<Do extends Action["do"]> = Extract<Action, { readonly do: Do }>;

async function beginTurn(driver: Driver, action: ActionOf<"begin_turn">): Promise<void> {
  const { runId, turnId, startsRun, takes } = action;
  const { queue } = driver.host.journal.state;
  const items = takes.flatMap((inputId): FactBody[] => {
    const input = queue.find((queued) => queued.inputId === inputId)?.input;
    if (input === undefined || input.kind === "answer") return [];
    const item: Item = {
      id: inputItemIdOf(inputId),
      author: "user",
      parts: input.parts,
      stop: "end",
    };
    return [{ type: "item_committed", item, runId, turnId, inputId }];
  });
  driver.forget();
  const started: FactBody[] = startsRun ? [{ type: "run_started", runId }] : [];
  await driver.record([...started, ...items, { type: "turn_started", runId, turnId }]);
}

function beginReply(driver: Driver, { turnId, itemId }: ActionOf<"reply">): void {
  const { runId } = here(driver).run;
  driver.beginReply((signal) =>
    getReply(driver.host, driver.epochs, {
      runId,
      turnId,
      itemId,
      signal,
      report: (usage) => driver.report([usage]),
      offered: (names) => driver.offer(names),
      overspent: (used) => driver.overspent(used),
    }),
  );
}

function beginRespond(driver: Driver): void {
  const { run, turn } = here(driver);
  driver.beginReply(async (signal) => {
    const place = { runId: run.runId, turnId: turn.turnId, signal };
    const ending = await respond(driver.host, driver.epochs, place);
    const closes = driver.epochs.last();
    const { runId, turnId } = place;
    const finished: FactBody[] = [
      { type: "turn_finished", runId, turnId, stop: ending.stop, closes },
    ];
    // Why it failed is known here only, so the run's end is stored with the turn's.
    if (ending.stop === "failed" || ending.stop === "truncated") {
      const { cause } = ending;
      finished.push({ type: "run_finished", runId, closes, outcome: "failed", cause });
    }
    await driver.report(finished);
  });
}

async function assess(driver: Driver, calls: readonly CallStanding[]): Promise<void> {
  const { host } = driver;
  const { run } = here(driver);
  const tools = toolsByName(host.agent, () => host.journal.state.items.toArray(), driver.offered());
  // Read before anything is waited for: a run that is stopped ends without waiting for this.
  const parts = calls.map((call) => partOf(driver, call));
  for (const [index, call] of calls.entries()) {
    const part = parts[index];
    if (part === undefined) continue;
    if (host.journal.standing.run?.runId !== run.runId) return;
    const assessed = await assessCall(part, {
      tools,
      rules: host.agent.rules,
      beforeTool: host.agent.hooks.beforeTool,
      session: host.info,
      uid: host.uid,
      runId: run.runId,
      itemId: call.itemId,
    });
    driver.assessed.set(call.itemId, assessed);
  }
}

async function ask(driver: Driver, { questions }: ActionOf<"ask">): Promise<void> {
  const { run, turn } = here(driver);
  const { runId } = run;
  const { turnId } = turn;
  const bodies = questions.flatMap(({ call, hash }): FactBody[] => {
    const { callId, tool, lane, asked } = call;
    const input = partOf(driver, call)?.input;
    if (input === undefined) return [];
    const approvalId = approvalIdOf(turnId, lane, asked + 1);
    return [{ type: "approval_requested", runId, turnId, approvalId, callId, tool, input, hash }];
  });
  await driver.record(bodies);
}

function beginCalls(driver: Driver, calls: readonly CallStanding[]): void {
  const { host, epochs } = driver;
  const { run, turn } = here(driver);
  for (const call of calls) {
    const assessed = driver.assessed.get(call.itemId);
    const input = partOf(driver, call)?.input;
    const tool = assessed?.tool;
    if (assessed === undefined || tool === undefined || input === undefined) continue;
    driver.beginCall(call.itemId, (signal) =>
      execute(host, epochs, {
        runId: run.runId,
        turnId: turn.turnId,
        call,
        tool,
        input,
        assessed,
        signal,
        toolHost: (lane) => toolHostOf(driver, lane.epoch),
        answered: (asked, stopped) => host.answered(answerInputIdOf(asked.itemId), stopped),
      }),
    );
  }
}

/** Answers that no tool wrote, in one transaction. A call that had been started is settled with it. */
async function settle(driver: Driver, answers: readonly Answer[]): Promise<void> {
  const { run, turn } = here(driver);
  await Promise.all(answers.map(({ call }) => leaveChild(driver, call)));
  const { queue } = driver.host.journal.state;
  const { runId } = run;
  const { turnId } = turn;
  const bodies = answers.flatMap(({ call, status, message }): FactBody[] => {
    const { callId, tool } = call;
    const part: Part = {
      kind: "tool_result",
      id: partId("p1"),
      callId,
      tool,
      status,
      text: message,
      synthetic: true,
    };
    const item: Item = { id: call.itemId, author: "tool", parts: [part], stop: "end" };
    const settled: BodyOf<"tool_execution_finished">[] =
      call.started === undefined
        ? []
        : [{ type: "tool_execution_finished", runId, turnId, callId, tool, status }];
    // An answer that a client gave meanwhile is used up with the call that it was for.
    const answer = answerInputIdOf(call.itemId);
    const given = queue.some((queued) => queued.inputId === answer) ? { inputId: answer } : {};
    return [{ type: "item_committed", item, runId, turnId, ...given }, ...settled];
  });
  await driver.record(bodies);
}

/** A sub-agent that was lost is stopped before its call is answered: nobody would ever take it up. */
async function leaveChild(driver: Driver, { started, tool, itemId }: CallStanding): Promise<void> {
  const { host } = driver;
  const abandon = host.agent.tools.get(tool)?.abandon;
  if (started === undefined || abandon === undefined) return;
  const stopped = abandon(effectKeyOf(host.uid, itemId), toolHostOf(driver, started));
  // One that can't be stopped is left: its parent must end all the same.
  await Promise.race([stopped.catch(() => undefined), host.clock.sleep(abandonMs)]);
}

async function compact(driver: Driver, action: ActionOf<"compact">): Promise<void> {
  const { runId, itemId, starts } = action;
  const { turn } = here(driver);
  if (starts && !(await driver.record([{ type: "compaction_started", runId }]))) return;
  driver.beginCompaction(async (signal) => {
    const todo = { runId, turnId: turn.turnId, itemId, signal };
    await driver.report(await compactContext(driver.host, driver.epochs, todo));
  });
}

async function correct(driver: Driver, action: ActionOf<"correct">): Promise<void> {
  const { run } = here(driver);
  const { runId } = run;
  const { itemId, turnId, message } = action;
  const text = `Your answer has not the shape that was asked for. Answer again, with one JSON value and nothing else.\n${message}`;
  const item: Item = {
    id: itemId,
    author: "user",
    parts: [{ kind: "text", id: partId("p1"), text }],
    stop: "end",
    metadata: { author: "millrace" },
  };
  driver.forget();
  await driver.record([
    { type: "item_committed", item, runId, turnId },
    { type: "turn_started", runId, turnId },
  ]);
}

async function abandonReply(driver: Driver, action: ActionOf<"abandon_reply">): Promise<void> {
  const { run } = here(driver);
  const { turnId, itemId } = action;
  const cause = { code: "aborted", message: "the run was stopped before the model had answered" };
  const item: Item = { id: itemId, author: "model", parts: [], stop: "aborted", cause };
  await driver.record([{ type: "item_committed", item, runId: run.runId, turnId }]);
}

/** The run and turn that an action is about. Decisions name them only while they are on. */
function here(driver: Driver): { readonly run: RunStanding; readonly turn: TurnStanding } {
  const { run } = driver.host.journal.standing;
  if (run?.turn === undefined)
    throw new RangeError("an action of a run was decided while none is on");
  return { run, turn: run.turn };
}

/** The call itself, with its arguments. */
function partOf(driver: Driver, call: CallStanding): ToolCallPart | undefined {
  const { items } = driver.host.journal.state;
  const replyId = here(driver).turn.reply?.itemId;
  const reply = items.at(items.findLastIndex((item) => item.id === replyId));
  const parts = reply?.parts.filter((part) => part.kind === "tool_call") ?? [];
  return parts.find((part) => part.callId === call.callId);
}
