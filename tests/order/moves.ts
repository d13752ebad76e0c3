import type { History } from "./history.ts";
import type { FaultKind } from "./setting.ts";
import type { Writer } from "./writer.ts";

/** One thing that may happen, named so that a history can be printed and played again. */
export interface Move {
  readonly kind: string;
  readonly name: string;
  readonly play: () => void | Promise<void>;
}

/** What may happen by itself. None: the history is over. */
export function moves(history: History): readonly Move[] {
  const { session, drivers, driver, hubs, viewers } = history;
  const found: Move[] = [];
  const add = (kind: string, name: string, play: Move["play"]): void => {
    found.push({ kind, name: `${kind} ${name}`, play });
  };
  for (const [at, acting] of drivers.entries()) {
    if (!acting.alive) continue;
    if (acting.known < session.head)
      add("read", `d${at}`, () => {
        acting.known = session.head;
      });
    if (acting.decide() !== undefined)
      add("act", `d${at}`, async () => {
        const job = await acting.act();
        if (job !== undefined) history.start(job);
      });
  }
  const { run, queue } = session.truths.now;
  if (!driver.alive && (run !== undefined || queue.length > 0))
    add("claim", "", () => history.claim());
  for (const [at, writer] of history.writers.entries()) {
    const next = writerMove(history, writer);
    if (next !== undefined) add(next[0], `w${at}`, next[1]);
    if (writer.phase === "run" && idleHelps(history, writer))
      add("idle", `w${at}`, () => writer.idle());
  }
  for (const [at, hub] of hubs.entries()) {
    if (!hub.ready) {
      add("join", `h${at}`, () => hub.join());
      continue;
    }
    if (hub.waiting.length > 0) add("receive", `h${at}`, () => hub.receive(false));
    else if (hub.state.head < session.head && session.keeps("heads are polled from the store"))
      add("poll", `h${at}`, () => poll(history, at));
    for (const [who, viewer] of viewers.entries()) {
      if (viewer.hub !== undefined) continue;
      add("connect", `v${who} h${at}`, () => history.connect(who, at));
    }
  }
  for (const [at, viewer] of viewers.entries())
    if (viewer.inbox.length > 0) add("take", `v${at}`, () => viewer.take(Infinity));
  return found;
}

async function poll(history: History, at: number): Promise<void> {
  if (!history.session.keeps("a poll moves no cursor")) {
    for (const viewer of history.viewers) {
      if (viewer.hub === at) viewer.state = { ...viewer.state, head: history.session.head };
    }
  }
  await history.hubs[at]?.poll();
}

function writerMove(
  history: History,
  writer: Writer,
): readonly [kind: string, play: Move["play"]] | undefined {
  const { setting, session } = history;
  switch (writer.phase) {
    case "open":
      return ["open", () => writer.open()];
    case "begin":
      return ["begin", () => writer.begin()];
    case "reseed":
      return ["reseed", () => writer.restate()];
    case "commit":
    case "announced":
      return ["commit", () => writer.commit()];
    case "crashed":
      if (!history.isNewest(writer)) return undefined;
      return ["again", () => history.again(writer)];
    case "run":
      if (writer.asked) return ["restate", () => writer.restate()];
      if (session.truths.now.aborting) return ["stop", () => writer.end("aborted")];
      if (writer.words < setting.words) return ["write", () => writer.write()];
      return setting.pause === true ? undefined : ["end", () => writer.end()];
    case "done":
    case "fenced":
      return undefined;
    default:
      writer.phase satisfies never;
      return undefined;
  }
}

/** Only where a reader needs it: one that received every message does not show all of the lane. */
function idleHelps({ session, hubs, viewers, setting }: History, writer: Writer): boolean {
  if (!session.keeps("a silent lane appends its position")) return false;
  // A reader that has not recovered by then never does.
  if (writer.asked || writer.idles > setting.faults + 3) return false;
  if (hubs.some((hub) => hub.phase > 0 && (!hub.ready || hub.waiting.length > 0))) return false;
  if (session.opened.get(writer.job.lane) !== writer.epoch) return false;
  const lacks = ({ lanes }: History["hubs"][number]["state"]): boolean => {
    const open = lanes.find(({ lane }) => lane === writer.job.lane);
    if (open !== undefined && open.epoch > writer.epoch) return false;
    return open?.epoch !== writer.epoch || open.seq < writer.seq;
  };
  return (
    hubs.some(({ ready, state }) => ready && lacks(state)) ||
    // A viewer may have a reader of its own, which knows less than its hub's.
    viewers.some(({ hub, inbox, state }) => hub !== undefined && inbox.length === 0 && lacks(state))
  );
}

/** What may go wrong now, and what people may do. */
export function faults(history: History): readonly Move[] {
  if (history.faults <= 0) return [];
  const found: Move[] = [];
  const { kinds } = history.setting;
  const add = (kind: FaultKind, name: string, play: Move["play"]): void => {
    const left = history.left[kind];
    if (!kinds.includes(kind) || left === 0) return;
    const spend = (): void | Promise<void> => {
      history.faults -= 1;
      if (left !== undefined) history.left[kind] = left - 1;
      return play();
    };
    found.push({ kind, name: `${kind} ${name}`, play: spend });
  };
  writerFaults(history, add);
  sessionFaults(history, add);
  readerFaults(history, add);
  return found;
}

type Add = (kind: FaultKind, name: string, play: Move["play"]) => void;

function writerFaults(history: History, add: Add): void {
  const { driver, session } = history;
  for (const [at, writer] of history.writers.entries()) {
    const { phase } = writer;
    const newest = history.isNewest(writer);
    if (writer.alive) {
      add("crash", `w${at}`, () => {
        writer.phase = "crashed";
      });
      if (newest) add("zombie", `w${at}`, () => history.again(writer));
    }
    if (newest && phase !== "done" && driver.started.has(writer.itemId))
      add("restart", `w${at}`, () => {
        driver.started.delete(writer.itemId);
        writer.givenUp = true;
      });
    if (phase === "commit") add("ack", `w${at}`, () => writer.commit(false));
    if (phase === "run" && writer.job.lane === 0)
      add("replace", `w${at}`, () => {
        writer.replaces = true;
        writer.end();
      });
    if (phase === "run" && !session.keeps("only a lane's writer writes in it"))
      add("late", `w${at}`, () => history.meddle(writer));
  }
}

function sessionFaults(history: History, add: Add): void {
  const { session, driver } = history;
  const { now, facts } = session.truths;
  add("takeover", "", () => history.claim());
  const points = facts.filter(({ type }) => type === "run_started" || type === "turn_started");
  for (const { n } of points.slice(-2)) add("reset", `${n}`, () => history.claim(n));
  if (now.incarnation > 1) add("late", "", () => history.claimLate());
  if (driver.alive)
    add("kill", "", () => {
      driver.alive = false;
    });
  if (now.run !== undefined && !now.aborting) add("abort", "", () => history.abort());
  add("input", "", () => history.say());
  if (session.opened.size > 0) add("flush", "", () => session.lose());
  for (const lane of session.opened.keys()) {
    add("evict", `${lane}`, () => session.lose(lane));
    add("tail", `${lane}`, () => history.loseLast(lane));
  }
}

function readerFaults(history: History, add: Add): void {
  for (const [at, hub] of history.hubs.entries()) {
    if (hub.ready && hub.waiting.length > 0) add("drop", `h${at}`, () => hub.receive(true));
    if (hub.phase > 0) add("hubcrash", `h${at}`, () => history.crashHub(at));
  }
  for (const [at, viewer] of history.viewers.entries()) {
    if (viewer.hub === undefined) continue;
    for (let taken = 0; taken <= Math.min(viewer.inbox.length, 3); taken += 1)
      add("cut", `v${at} ${taken}`, () => {
        viewer.take(taken);
        viewer.leave();
      });
  }
}

/** Plays a move, then looks at what it left in the store and whom it asked. */
export async function play(history: History, move: Move): Promise<void> {
  await move.play();
  const { session, viewers, hubs } = history;
  await session.settle();
  await session.look();
  for (const lane of session.isAsked ? await session.asked() : []) {
    for (const writer of history.writers) {
      const speaks = writer.phase === "run" || writer.phase === "reseed";
      if (writer.job.lane === lane && speaks) writer.asked = true;
    }
  }
  for (const hub of hubs) if (hub.rest !== undefined) await hub.rest();
  const { kinds } = history.setting;
  if (kinds.includes("cut") && history.faults > 0 && history.left.cut !== 0) return;
  for (const viewer of viewers) {
    while (viewer.inbox.length > 0) {
      viewer.take(Infinity);
      const hub = viewer.hub === undefined ? undefined : hubs[viewer.hub];
      if (hub?.rest !== undefined) await hub.rest();
    }
  }
}
