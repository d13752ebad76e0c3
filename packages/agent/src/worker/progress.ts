import type { LoopSettings } from "../definition/loop-settings.ts";
import type { Standing } from "../loop/state.ts";

/** True if no run is on and no input that waits may begin one. */
export function isIdle({ run, queue }: Standing): boolean {
  return run === undefined && !queue.some(({ kind, held }) => kind !== "answer" && !held);
}

/** True if the run goes on only after a person, or a client, has answered every open call. */
export function waitsForPeople({ run }: Standing, { tools }: LoopSettings): boolean {
  const open = run?.turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const isAsked = ({ tool, approval, started }: (typeof open)[number]): boolean =>
    (approval !== undefined && approval.answer === undefined) ||
    (tools[tool]?.client === true && started !== undefined);
  return run?.aborting !== true && open.length > 0 && open.every(isAsked);
}

/** True if the turn that was on then is over, so that closing the session interrupts no reply and no tool. */
export function turnIsOver(then: Standing, { run }: Standing): boolean {
  const turn = then.run?.turn;
  const now = run?.turn;
  return (
    turn === undefined || now === undefined || now.turnId !== turn.turnId || now.stop !== undefined
  );
}
