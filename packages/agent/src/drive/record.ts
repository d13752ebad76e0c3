import type { DriverRequest } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, RecordAction } from "../loop/action.ts";
import { effectKeyOf, laneItemIdOf } from "../loop/ids.ts";
import type { CallStanding } from "../loop/state.ts";
import { guidanceFacts } from "../work/guidance.ts";
import type { ActionHost } from "./action-host.ts";

/** How long to wait for a lost sub-agent to stop. */
const abandonMs = 10_000;

/**
 * Stores the facts of an action. If the head has moved, nothing is stored and the driver decides again.
 * When a reply ends while its failed attempt still has its lane, the item is committed from that attempt's
 * lane instead, so that it contains what viewers saw.
 */
export async function record(
  actions: ActionHost,
  action: RecordAction,
  bodies: readonly FactBody[],
  append: (bodies: readonly FactBody[], opens?: DriverRequest["opens"]) => Promise<boolean>,
): Promise<void> {
  const { work } = actions;
  const { memory } = work;
  switch (action.do) {
    case "begin_turn":
    case "correct":
      memory.forget();
      work.leaveAssessing();
      return await beginTurn(actions, action, bodies, append);
    case "schedule_retry":
      return await scheduleRetry(actions, action, () => append(bodies));
    case "end_reply":
    case "abandon_reply": {
      const failed = memory.failed?.of === "reply" ? memory.takeFailed() : undefined;
      if (failed === undefined) await append(bodies);
      else await failed.commit(action.do === "abandon_reply" ? "aborted" : "as_it_ended");
      return;
    }
    case "settle":
      await Promise.all(action.answers.map(({ call }) => abandonChild(actions, call)));
      await append(bodies);
      return;
    case "give_up":
      await Promise.all(action.answers.map(({ call }) => abandonChild(actions, call)));
      if (await append(bodies)) await memory.takeFailed()?.drop();
      return;
    case "end_compaction":
    case "finish_run": {
      const { failed } = memory;
      if (!(await append(bodies)) || failed === undefined) return;
      memory.takeFailed();
      await failed.drop();
      if (action.do === "end_compaction") await actions.host.allowance?.spend(failed.usage);
      return;
    }
    case "start_compaction":
      memory.dropOpened(); // the summary takes the lane
      await append(bodies);
      return;
    case "ask":
    case "await_client":
    case "finish_turn":
    case "show_stop":
      await append(bodies);
      return;
    default:
      action satisfies never;
  }
}

/**
 * Starts a turn. If a model replies in it, the same transaction stores what its request goes by, if that has
 * changed, and opens the lane of the reply.
 */
async function beginTurn(
  actions: ActionHost,
  action: ActionOf<"begin_turn" | "correct">,
  bodies: readonly FactBody[],
  append: (bodies: readonly FactBody[], opens?: DriverRequest["opens"]) => Promise<boolean>,
): Promise<void> {
  const { host, epochs, work, opensReplies } = actions;
  if (host.agent.settings.custom) return void (await append(bodies));
  const all = [...bodies, ...(await guidanceOf(actions, action))];
  if (!opensReplies) return void (await append(all));
  const opens = { lane: 0, epoch: epochs.next(), itemId: laneItemIdOf(action.turnId, 0) };
  const stored = await append(all, opens);
  if (stored) work.memory.setOpened({ ...opens, head: host.journal.state.head });
}

/**
 * What the requests of the turn go by, if that has changed. An agent that makes instructions or notes by a
 * function is asked by the reply instead: a function may throw or never settle, and a reply can be stopped.
 */
async function guidanceOf(
  { host, work: { memory } }: ActionHost,
  action: ActionOf<"begin_turn" | "correct">,
): Promise<readonly FactBody[]> {
  const startsRun = action.do === "begin_turn" && action.startsRun;
  const runId = action.do === "begin_turn" ? action.runId : host.journal.standing.run?.runId;
  if (runId === undefined) return [];
  const { instructions, notes } = host.agent;
  const isMade = typeof instructions === "function" || notes !== undefined;
  if (isMade && (startsRun || host.journal.context.guide.stages.length === 0)) {
    memory.askAgain();
    return [];
  }
  const facts = await guidanceFacts(host, { runId, turnId: action.turnId }, startsRun);
  memory.setGuided();
  return facts;
}

async function scheduleRetry(
  { work: { memory }, host }: ActionHost,
  { delayMs }: ActionOf<"schedule_retry">,
  append: () => Promise<boolean>,
): Promise<void> {
  const { failed } = memory;
  if (failed === undefined || !(await append())) return;
  memory.setRetry(host.clock.monotonic() + delayMs);
  await failed.scheduled(delayMs);
}

/** Stops a lost sub-agent before its call is settled, because no driver resumes it afterwards. */
async function abandonChild(
  actions: ActionHost,
  { started, tool, itemId }: CallStanding,
): Promise<void> {
  const { host } = actions;
  const abandon = host.agent.tools.get(tool)?.abandon;
  if (started === undefined || abandon === undefined) return;
  const stopped = abandon(effectKeyOf(host.uid, itemId), actions.toolHost(started));
  // A sub-agent that can't be stopped is abandoned, so that its parent still ends.
  await Promise.race([stopped.catch(() => undefined), host.clock.sleep(abandonMs)]);
}
