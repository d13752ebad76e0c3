import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, RecordAction } from "../loop/action.ts";
import { effectKeyOf } from "../loop/ids.ts";
import type { CallStanding } from "../loop/state.ts";
import type { Desk } from "./desk.ts";

/** How long a sub-agent may take to stop that its parent has lost. */
const abandonMs = 10_000;

/**
 * Stores the facts of an action. If the head has moved meanwhile nothing was stored, and the next
 * decision rests on what is there. The end of a reply whose failed attempt is still held is stored
 * from that attempt's lane instead, with what came in it.
 */
export async function record(
  desk: Desk,
  action: RecordAction,
  bodies: readonly FactBody[],
  append: (bodies: readonly FactBody[]) => Promise<boolean>,
): Promise<void> {
  const { memory, underWay } = desk;
  switch (action.do) {
    case "begin_turn":
    case "correct":
      memory.forget();
      underWay.leaveAssessing();
      await append(bodies);
      return;
    case "schedule_retry":
      return await scheduleRetry(desk, action, () => append(bodies));
    case "end_reply":
    case "abandon_reply": {
      const held = memory.held?.of === "reply" ? memory.takeHeld() : undefined;
      if (held === undefined) await append(bodies);
      else await held.commit(action.do === "abandon_reply" ? "aborted" : "as_it_ended");
      return;
    }
    case "settle":
      await Promise.all(action.answers.map(({ call }) => abandonChild(desk, call)));
      await append(bodies);
      return;
    case "end_compaction":
    case "finish_run": {
      const held = memory.held;
      if (!(await append(bodies)) || held === undefined) return;
      memory.takeHeld();
      await held.drop();
      if (action.do === "end_compaction") await desk.host.allowance?.spend(held.usage);
      return;
    }
    case "ask":
    case "await_client":
    case "finish_turn":
    case "start_compaction":
      await append(bodies);
      return;
    default:
      action satisfies never;
  }
}

async function scheduleRetry(
  { memory, host }: Desk,
  { delayMs }: ActionOf<"schedule_retry">,
  append: () => Promise<boolean>,
): Promise<void> {
  const { held } = memory;
  if (held === undefined || !(await append())) return;
  memory.setRetry(host.clock.now() + delayMs);
  await held.scheduled(delayMs);
}

/** A sub-agent that was lost is stopped before its call is answered: no driver would take it up again. */
async function abandonChild(
  { host, toolHost }: Desk,
  { started, tool, itemId }: CallStanding,
): Promise<void> {
  const abandon = host.agent.tools.get(tool)?.abandon;
  if (started === undefined || abandon === undefined) return;
  const stopped = abandon(effectKeyOf(host.uid, itemId), toolHost(started));
  // One that can't be stopped is left: its parent must end all the same.
  await Promise.race([stopped.catch(() => undefined), host.clock.sleep(abandonMs)]);
}
