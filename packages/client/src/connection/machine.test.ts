import { streamEndReasons } from "@millrace/core/wire";
import { expect, it, test } from "vitest";
import { connectionOf, initialMachine, pauseRangeMs, step } from "./machine.ts";
import type { Command, ConnectionEvent, Machine } from "./machine.ts";
import { durations, states } from "./states.ts";
import type { StateName, TimerName } from "./states.ts";
import { transitions } from "./transitions.ts";
import type { EndReason } from "./transitions.ts";

/** Drives a machine. Events of connections are given without their number: they are of the current one. */
function after(machine: Machine, ...events: readonly Happening[]): Machine {
  return events.reduce((now, event) => step(now, numbered(now, event), 0.5).machine, machine);
}

type Happening = ConnectionEvent["type"] | EndReason | number;

const reasons: readonly Happening[] = [...streamEndReasons, "unsupported_version"];

/** A reason is an end with that reason, a number is a refusal with that status. */
function numbered({ number }: Machine, event: Happening): ConnectionEvent {
  if (typeof event === "number") return { type: "refused", number, status: event };
  if (reasons.includes(event)) return { type: "ended", number, reason: event as EndReason };
  return { type: event, number, ms: 0 } as ConnectionEvent;
}

/** How each state is reached. */
const paths: Readonly<Record<StateName, readonly Happening[]>> = {
  idle: [],
  opening: ["watch"],
  opened: ["watch", "opened"],
  live: ["watch", "opened", "bytes"],
  waiting: ["watch", "failed"],
  renewing: ["watch", 401],
  offline: ["watch", "offline"],
  frozen: ["watch", "freeze"],
  refused: ["watch", 404],
  closed: ["watch", "close"],
};

const at = (state: StateName): Machine => after(initialMachine, ...paths[state]);
/** The same after credentials were renewed a moment ago. */
const renewed = {
  opening: after(initialMachine, "watch", 401, "renewed"),
  opened: after(initialMachine, "watch", 401, "renewed", "opened"),
  live: after(initialMachine, "watch", 401, "renewed", "bytes"),
} as const;

type Row = readonly [from: StateName | Machine, event: Happening, to: StateName, ...string[]];

const connected: readonly StateName[] = ["opening", "opened", "live"];
const resting: readonly StateName[] = ["idle", "waiting", "offline", "frozen", "refused"];

/** The timer of an opening that another one follows. */
const again = (from: StateName): string[] => (from === "opening" ? ["set open_timeout"] : []);

/** What the table of transitions says, written a second time: from, event, to, and commands by their names. */
const rows: readonly Row[] = [
  ...connected.flatMap((from): Row[] => [
    [from, "close", "closed", "disconnect"],
    [from, "unwatch", "idle", "disconnect"],
    [from, "offline", "offline", "disconnect"],
    [from, "freeze", "frozen", "disconnect"],
    [from, "watch", "opening", "disconnect", ...again(from), "connect"],
    [from, "again_timeout", "opening", "disconnect", ...again(from), "connect"],
    [from, "failed", "waiting", "disconnect", "set retry_timeout"],
    [from, 404, "refused", "disconnect"],
    [from, 401, "renewing", "disconnect", "renew"],
  ]),
  [renewed.opening, 401, "refused", "disconnect"],
  [renewed.opened, 401, "refused", "disconnect"],
  [renewed.live, "expired", "waiting", "disconnect", "set retry_timeout"],
  ["renewing", "close", "closed", "disconnect"],
  ["renewing", "unwatch", "idle", "disconnect"],
  ["renewing", "offline", "offline", "disconnect"],
  ["renewing", "freeze", "frozen", "disconnect"],
  ["renewing", "again_timeout", "renewing"],
  ["renewing", "failed", "waiting", "disconnect", "set retry_timeout"],
  ["renewing", 404, "refused", "disconnect"],
  ["renewing", 401, "refused", "disconnect"],
  ["renewing", "renewed", "opening", "disconnect", "connect"],
  ["renewing", "renew_timeout", "waiting", "disconnect", "set retry_timeout"],
  ...resting.flatMap((from): Row[] => [
    [from, "close", "closed"],
    [from, "unwatch", from === "offline" || from === "frozen" ? from : "idle"],
    [from, "offline", from === "frozen" ? "frozen" : "offline"],
    [from, "freeze", "frozen"],
    [from, "again_timeout", from],
  ]),
  ["idle", "watch", "opening", "connect"],
  ["opening", "opened", "opened"],
  ["opening", "bytes", "live"],
  ["opening", "open_timeout", "waiting", "disconnect", "set retry_timeout"],
  ["opened", "bytes", "live"],
  ["opened", "mute_timeout", "opening", "disconnect", "connect"],
  ["live", "bytes", "live", "set silence_timeout"],
  ["live", "steady_timeout", "live"],
  ["live", "silence_timeout", "waiting", "disconnect", "set retry_timeout"],
  ["live", "shown", "live", "set silence_timeout"],
  ["live", "online", "live", "set silence_timeout"],
  ["live", "reconnect", "opening", "disconnect", "connect"],
  ["waiting", "retry_timeout", "opening", "connect"],
  ["waiting", "shown", "opening", "connect"],
  ["waiting", "online", "opening", "connect"],
  ["waiting", "reconnect", "opening", "connect"],
  ["waiting", "answered", "opening", "connect"],
  ["offline", "online", "opening", "connect"],
  ["frozen", "thaw", "opening", "connect"],
  ["refused", "watch", "opening", "connect"],
  ["refused", "reconnect", "opening", "connect"],
];

const nameOf = (from: StateName | Machine): string =>
  typeof from === "string" ? from : `${from.state} after a renewal`;

/** Commands by their names, without the timers that belong to the two states. */
function shown(commands: readonly Command[], from: StateName, to: StateName): string[] {
  const own: readonly TimerName[] = [...states[from].timers, ...states[to].timers];
  return commands.flatMap((command) => {
    if (command.type === "set_timer" || command.type === "clear_timer") {
      const isOwn = from !== to && own.includes(command.timer);
      if (isOwn && command.timer !== "retry_timeout") return [];
      if (command.type === "clear_timer") return [];
      return [`set ${command.timer}`];
    }
    return [command.type];
  });
}

test.each(rows.map((row) => [nameOf(row[0]), row[1], row[2], row] as const))(
  "%s at %s goes to %s",
  (_from, _event, _to, [from, event, to, ...commands]) => {
    const before = typeof from === "string" ? at(from) : from;
    const taken = step(before, numbered(before, event), 0.5);

    expect(taken.machine.state).toBe(to);
    expect(shown(taken.commands, before.state, to)).toEqual(commands);
  },
);

const statuses = [400, 401, 403, 404, 406, 408, 410, 421, 429, 500, 502, 503, 504];

const everyEvent: readonly Happening[] = [
  ...(Object.keys(durations) as TimerName[]),
  ...(["watch", "unwatch", "online", "offline", "freeze", "thaw", "shown", "reconnect"] as const),
  "answered",
  ...(["close", "opened", "bytes", "gap", "failed", "renewed", "retry", "retry_timeout"] as const),
  ...reasons,
  ...statuses,
];

it("walks every rule of the table, and every other event leaves a state as it is", () => {
  const rules = Object.entries(transitions).flatMap(([state, each]) =>
    Object.entries(each).flatMap(([event, all]) => all.map(() => `${state} ${event}`)),
  );
  const walked = rows.map(([from, event]) => {
    const state = typeof from === "string" ? from : from.state;
    return `${state} ${meaningOf(event)}`;
  });
  let unchanged = 0;
  for (const state of Object.keys(states) as StateName[]) {
    const before = at(state);
    const listed = rows.flatMap(([from, event]) => (from === state ? [meaningOf(event)] : []));
    for (const event of everyEvent) {
      if (listed.includes(meaningOf(event))) continue;
      const { machine, commands } = step(before, numbered(before, event), 0.5);
      expect([state, event, machine.state, commands]).toEqual([state, event, state, []]);
      unchanged += 1;
    }
  }

  expect(walked.toSorted()).toEqual(rules.toSorted());
  console.log(`count: transitions, ${rows.length} walked, ${unchanged} pairs change nothing`);
});

/** Events with one meaning are one column of the table. */
function meaningOf(event: Happening): string {
  const renewing: readonly Happening[] = [401, "expired"];
  const stopping: readonly Happening[] = [400, 403, 404, 406, 410, 421];
  const ending: readonly Happening[] = ["revoked", "removed", "not_found", "unsupported_version"];
  if (renewing.includes(event)) return "unauthorized";
  if (stopping.includes(event) || ending.includes(event)) return "stopped";
  if (typeof event === "number" || event === "failed" || event === "gap") return "lost";
  return reasons.includes(event) ? "lost" : event;
}

test.each(reasons.map((reason) => [reason, meaningOf(reason)] as const))(
  "a live stream that ends with %s is %s",
  (reason, meaning) => {
    const to = { lost: "waiting", unauthorized: "renewing", stopped: "refused" }[meaning as "lost"];

    expect(after(at("live"), reason).state).toBe(to);
  },
);

it("drops events of a connection that is over", () => {
  const machine = after(at("live"), "watch");
  const late = step(machine, { type: "bytes", number: machine.number - 1 }, 0);

  expect(late).toEqual({ machine, commands: [] });
});

it("changes to JSON after two streams without a byte, and back after ten minutes", () => {
  const once = after(at("opened"), "mute_timeout");
  const json = after(once, "opened", "mute_timeout");
  const { commands } = step(after(once, "opened"), { type: "mute_timeout" }, 0);
  const back = after(json, "bytes", "again_timeout");

  expect([once.form, json.form, back.form]).toEqual(["stream", "json", "stream"]);
  expect(commands).toContainEqual({ type: "set_timer", timer: "again_timeout", ms: 600_000 });
  expect(commands).toContainEqual({ type: "connect", number: json.number, form: "json" });
  expect(after(back, "opened", "mute_timeout").form).toBe("json"); // one more is enough
  expect(after(back, "opened", "bytes").quiet).toBe(0);
});

it("changes from JSON to streams when JSON is silent too", () => {
  const json = after(at("opened"), "mute_timeout", "opened", "mute_timeout");

  expect(after(json, "bytes", "silence_timeout").form).toBe("stream");
  expect(after(json, "open_timeout").form).toBe("stream");
});

it("doubles the range of pauses with each failure up to 10 s, and forgives after a connection that lasted", () => {
  let machine = at("waiting");
  const ranges: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    ranges.push(pauseRangeMs(machine));
    machine = after(machine, "retry_timeout", "failed");
  }
  const forgiven = after(machine, "retry_timeout", "bytes", "steady_timeout", "failed");

  expect(ranges).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000]);
  expect(pauseRangeMs(forgiven)).toBe(500);
});

it("takes the server's own range after a planned end of a connection that lasted", () => {
  const live = after(at("live"), "steady_timeout");
  const told = step(live, { type: "retry", number: live.number, ms: 120 }, 0).machine;
  const { commands } = step(told, numbered(told, "recycled"), 0.5);

  expect(commands).toContainEqual({ type: "set_timer", timer: "retry_timeout", ms: 60 });
  expect(connectionOf(after(told, "recycled"))).toBe("live"); // nothing to show
  expect(connectionOf(after(told, "failed"))).toBe("reconnecting");
});

it("takes the server's own range up to 30 s, which failures double no further than 10 s", () => {
  const live = after(at("live"), "steady_timeout");
  const asked = (ms: number): Machine =>
    step(live, { type: "retry", number: live.number, ms }, 0).machine;
  const ranges = (ms: number): number[] =>
    [after(asked(ms), "recycled"), after(asked(ms), "failed", "retry_timeout", "failed")].map(
      pauseRangeMs,
    );

  expect([4_000, 8_000, 20_000, 1e9].map(ranges)).toEqual([
    [4_000, 8_000],
    [8_000, 10_000],
    [20_000, 20_000],
    [30_000, 30_000],
  ]);
});

it("counts a planned end at once after the opening as a failure, so that a draining server is not asked in a circle", () => {
  expect(after(at("live"), "drain").attempt).toBe(1);
});

it("waits for Retry-After also when somebody looks, and for five minutes at most", () => {
  const before = at("opening");
  const refused = (retryAfterMs: number): ConnectionEvent => ({
    type: "refused",
    number: before.number,
    status: 503,
    retryAfterMs,
  });
  const { machine, commands } = step(before, refused(7_000), 0.5);
  const { commands: year } = step(before, refused(1e12), 0.5);

  expect(commands).toContainEqual({ type: "set_timer", timer: "retry_timeout", ms: 7_000 });
  expect(year).toContainEqual({ type: "set_timer", timer: "retry_timeout", ms: 300_000 });
  expect(after(machine, "shown", "answered").state).toBe("waiting");
  expect(after(machine, "retry_timeout").state).toBe("opening");
});

it("renews credentials once, and again only after a connection lasted", () => {
  const twice = after(at("renewing"), "renewed", 401);
  const lasted = after(at("renewing"), "renewed", "bytes", "steady_timeout", "expired");

  expect([twice.state, twice.refusal]).toEqual(["refused", { status: 401 }]);
  expect(lasted.state).toBe("renewing");
});

it("opens when the page is back and the network too, whichever is later", () => {
  const away = after(at("live"), "offline", "freeze");

  expect(after(away, "online").state).toBe("frozen");
  expect(after(away, "online", "thaw").state).toBe("opening");
  expect(after(away, "thaw").state).toBe("offline");
  expect(after(away, "thaw", "online").state).toBe("opening");
  expect(after(away, "unwatch", "thaw", "online").state).toBe("idle");
});

test.each([
  [[], "connecting"],
  [["watch"], "connecting"],
  [["watch", "failed"], "reconnecting"],
  [["watch", "bytes"], "live"],
  [["watch", "bytes", "freeze"], "reconnecting"],
  [["watch", "bytes", "unwatch"], "live"], // all that is watched is missing: nothing to catch up with
  [["watch", "bytes", "failed", "unwatch"], "live"],
  [["watch", "bytes", "offline"], "offline"],
  [["watch", 404], "offline"],
] as const)("after %j it is shown as %s", (events, connection) => {
  expect(connectionOf(after(initialMachine, ...events))).toBe(connection);
});
