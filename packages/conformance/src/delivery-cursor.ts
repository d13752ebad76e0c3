import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { Stage } from "./delivery-stage.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** Cursors that nobody can serve. Whoever sends one is sent the state. */
function hopeless(stage: Stage, elsewhere: string): readonly string[] {
  const { uid, head } = stage;
  const next = (head + 1).toString(36);
  const garbage = [
    "",
    " ",
    "0",
    "1",
    "1.",
    "1..",
    "null",
    "{}",
    "undefined",
    "👩‍👧",
    "\u0000",
    "id: 1\n\ndata: x",
    "../../etc/passwd",
    "x".repeat(256),
    "x".repeat(100_000),
  ];
  const malformed = [
    uid,
    `1.${uid}`,
    `1.${uid}.`,
    `1.${uid}.-1`,
    `1.${uid}.+1`,
    `1.${uid}.00`,
    `1.${uid}.A`,
    `1.${uid}.zzzzzzzzzzz`,
    `1.${uid}.0.`,
    `1.${uid}.0.0~1`,
    `1.${uid}.0.0~1~2~3`,
    `1.${uid}.0.1~1~1.0~1~1`,
    `1.${uid}.0.1~1~1.1~2~2`,
    `1.${uid}.0${".0~1~1".repeat(60)}`,
    `2.${uid}.0`,
    `1.${uid} .0`,
  ];
  const wrong = [
    elsewhere,
    "1.somebody_else.0",
    `1.${uid}x.0`,
    `1.${uid}.${next}`,
    `1.${uid}.${Number.MAX_SAFE_INTEGER.toString(36)}`,
    `1.${uid}.${next}.0~1~1`,
  ];
  return [...garbage, ...malformed, ...wrong];
}

/** Sessions at all sorts of moments. */
const moments: readonly ((stage: Stage) => Promise<void>)[] = [
  async () => undefined,
  async (stage) => (await stage.start()).write("mid-wor"),
  async (stage) => {
    for (let lane = 0; lane < 4; lane += 1) await (await stage.start({ lane })).write(`${lane}`);
  },
  async (stage) => {
    const hand = await stage.start();
    await hand.write("done");
    await stage.commit(hand);
  },
  async (stage) => {
    const first = await stage.start();
    await first.write("first");
    await (await stage.start({ again: first })).write("second");
  },
  async (stage) => {
    const hand = await stage.start();
    await hand.write("undone");
    await stage.commit(hand);
    await stage.claim(2);
  },
  async (stage) => {
    const hand = await stage.start({ lane: 1, tool: true });
    await hand.write("output");
    await stage.say();
    await stage.claim();
    await stage.begin();
  },
];

/**
 * Every hopeless cursor at every moment brings a snapshot first, and then everything. Answers how
 * many were tried.
 */
export async function runCursorMatrix(fixture: DeliveryFixture): Promise<number> {
  let tried = 0;
  for (const moment of moments) {
    await using opened = await fixture.open();
    await using other = await Stage.open(opened);
    const elsewhere = await cursorOf(other);
    await using stage = await Stage.open(opened);
    await moment(stage);
    const viewers: Viewer[] = [];
    for (const cursor of hopeless(stage, elsewhere)) {
      const viewer = createViewer(stage);
      viewer.connect(cursor);
      await stage.until(() => viewer.messages() > 0, `an answer to ${cursor.slice(0, 80)}`);
      viewer.state();
      assertEqual(viewer.snapshots(), 1, `snapshots for the cursor ${cursor.slice(0, 80)}`);
      viewers.push(viewer);
    }
    await stage.say();
    for (const hand of stage.open.values()) await hand.write(" and on");
    await assertSame(stage, viewers);
    for (const viewer of viewers) await viewer.cut();
    tried += viewers.length;
  }
  return tried;
}

async function cursorOf(stage: Stage): Promise<string> {
  const viewer = createViewer(stage);
  viewer.connect();
  await viewer.cut(1);
  const cursor = viewer.cursor();
  assert(cursor !== undefined, "a cursor");
  return cursor;
}

/** What can't be told is shown whole: never silence, never an error. */
export const cursorCases: readonly Case<DeliveryFixture>[] = [
  {
    name: "every cursor that can't be served is answered with a snapshot, at every moment",
    run: async (fixture) => {
      const tried = await runCursorMatrix(fixture);
      assert(tried >= 200, `${tried} cursors were tried`);
    },
  },
  deliveryCase("a cursor from an earlier life of the name brings a snapshot", async (stage) => {
    const old = await cursorOf(stage);
    const { store, log, clock, sessionId } = stage;
    await store.remove(stage.uid);
    await log.remove(stage.uid);
    const { uid } = await store.create({ sessionId });
    assert(uid !== stage.uid, "another uid");

    const reader = stage.follow({ store, log, clock, uid, sessionId, cursor: decodeCursor(old) });
    const first = await reader.next();

    const message = first.done === true ? undefined : first.value.message;
    assertEqual(message !== undefined && "items" in message, true, "it is a snapshot");
    await reader.return();
  }),
  deliveryCase("a cursor from the very beginning is told every fact", async (stage) => {
    const hand = await stage.start();
    await hand.write("text");
    const viewer = createViewer(stage);

    viewer.connect(encodeCursor({ uid: stage.uid, head: 0, lanes: [] }));

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 0, "snapshots");
    assertEqual(viewer.messages(), stage.head + 1, "messages: the facts, and the lane");
    await viewer.cut();
  }),
  deliveryCase("lanes in a cursor that are not, or not so far, harm nobody", async (stage) => {
    const hand = await stage.start({ lane: 1 });
    await hand.write("some text");
    const { uid, head } = stage;
    const { epoch } = hand;
    const wrong = [
      [{ lane: 1, epoch, seq: 1_000_000 }],
      [{ lane: 1, epoch: epoch + 1, seq: 0 }],
      [{ lane: 1, epoch: epoch - 1, seq: 7 }],
      [{ lane: 0, epoch, seq: 3 }],
      [{ lane: 1, epoch, seq: 0 }],
      [{ lane: 9, epoch: 1, seq: 1 }],
      [],
    ];
    const viewers = wrong.map(() => createViewer(stage));
    for (const [at, viewer] of viewers.entries()) {
      viewer.connect();
      await viewer.cut(1);
      viewer.connect(encodeCursor({ uid, head, lanes: wrong[at] ?? [] }));
    }

    await hand.write(", and more");
    await assertSame(stage, viewers);
    await stage.commit(hand);
    await assertSame(stage, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
];
