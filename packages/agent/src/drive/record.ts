import type { TurnId } from "@millrace/core";
import type { DriverRequest } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, RecordAction } from "../loop/action.ts";
import { effectKeyOf, laneItemIdOf } from "../loop/ids.ts";
import type { CallStanding } from "../loop/state.ts";
import type { DriveContext } from "./drive-context.ts";

/** How long to wait for a lost sub-agent to stop. */
const abandonMs = 10_000;

/**
 * Stores the facts of an action. If the head has moved, nothing is stored and the driver decides again.
 * When a reply ends while its failed attempt is still held, the item is committed from that attempt's
 * lane instead, so that it contains what viewers saw.
 */
export async function record(
  drive: DriveContext,
  action: RecordAction,
  bodies: readonly FactBody[],
  append: (bodies: readonly FactBody[], opens?: DriverRequest["opens"]) => Promise<boolean>,
): Promise<void> {
  const { memory, underWay } = drive;
  switch (action.do) {
    case "begin_turn":
    case "correct":
      memory.forget();
      underWay.leaveAssessing();
      return await beginTurn(drive, action.turnId, (opens) => append(bodies, opens));
    case "schedule_retry":
      return await scheduleRetry(drive, action, () => append(bodies));
    case "end_reply":
    case "abandon_reply": {
      const held = memory.held?.of === "reply" ? memory.takeHeld() : undefined;
      if (held === undefined) await append(bodies);
      else await held.commit(action.do === "abandon_reply" ? "aborted" : "as_it_ended");
      return;
    }
    case "settle":
      await Promise.all(action.answers.map(({ call }) => abandonChild(drive, call)));
      await append(bodies);
      return;
    case "end_compaction":
    case "finish_run": {
      const held = memory.held;
      if (!(await append(bodies)) || held === undefined) return;
      memory.takeHeld();
      await held.drop();
      if (action.do === "end_compaction") await drive.host.allowance?.spend(held.usage);
      return;
    }
    case "ask":
    case "await_client":
    case "finish_turn":
    case "show_stop":
    case "start_compaction":
      await append(bodies);
      return;
    default:
      action satisfies never;
  }
}

/** Starts a turn, and opens the lane of its reply in the same transaction if a model writes it. */
async function beginTurn(
  { host, epochs, memory, opensReplies }: DriveContext,
  turnId: TurnId,
  append: (opens?: DriverRequest["opens"]) => Promise<boolean>,
): Promise<void> {
  if (host.agent.settings.custom || !opensReplies) return void (await append());
  const opens = { lane: 0, epoch: epochs.next(), itemId: laneItemIdOf(turnId, 0) };
  const stored = await append(opens);
  if (stored) memory.setOpened({ ...opens, head: host.journal.state.head });
}

async function scheduleRetry(
  { memory, host }: DriveContext,
  { delayMs }: ActionOf<"schedule_retry">,
  append: () => Promise<boolean>,
): Promise<void> {
  const { held } = memory;
  if (held === undefined || !(await append())) return;
  memory.setRetry(host.clock.monotonic() + delayMs);
  await held.scheduled(delayMs);
}

/** Stops a lost sub-agent before its call is settled, because no driver resumes it afterwards. */
async function abandonChild(
  { host, toolHost }: DriveContext,
  { started, tool, itemId }: CallStanding,
): Promise<void> {
  const abandon = host.agent.tools.get(tool)?.abandon;
  if (started === undefined || abandon === undefined) return;
  const stopped = abandon(effectKeyOf(host.uid, itemId), toolHost(started));
  // A sub-agent that can't be stopped is abandoned, so that its parent still ends.
  await Promise.race([stopped.catch(() => undefined), host.clock.sleep(abandonMs)]);
}
