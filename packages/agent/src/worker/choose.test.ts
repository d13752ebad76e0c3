import type { DueSession } from "@millrace/core/ports";
import { runId, sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { choose } from "./choose.ts";
import type { SessionChecks } from "./choose.ts";

const idle: SessionChecks = {
  isOpen: () => false,
  isDone: () => false,
  isBackedOff: () => false,
  isDriven: () => false,
};

function session(name: string, run?: string): DueSession {
  return {
    uid: sessionUid(name),
    sessionId: sessionId(name),
    head: 3,
    incarnation: 1,
    sign: { driver: `driver of ${name}` },
    ...(run === undefined ? {} : { run: runId(run) }),
  };
}

const names = (taken: readonly DueSession[]): readonly string[] =>
  taken.map((one) => one.sessionId);

it("a run is taken from a driver that is dead, and left to one that lives", () => {
  const due = [session("orphan", "run_1"), session("driven", "run_2")];
  const isDriven: SessionChecks["isDriven"] = (one) => one.sessionId === "driven";

  const { take, passed } = choose(due, { ...idle, isDriven }, 10);

  expect(names(take)).toEqual(["orphan"]);
  expect(passed).toBe(1);
});

it("an input that waits is taken whether or not the driver of the last claim lives", () => {
  const { take } = choose([session("waiting")], { ...idle, isDriven: () => true }, 10);

  expect(names(take)).toEqual(["waiting"]);
});

it("sessions are taken in the order of the listing, as many as there is room for", () => {
  const due = ["a", "b", "c"].map((name) => session(name));

  expect(names(choose(due, idle, 2).take)).toEqual(["a", "b"]);
  expect(choose(due, idle, 0).take).toEqual([]);
});
