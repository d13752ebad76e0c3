import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { DeliverySession } from "./delivery-session.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** Cursors that can't be served. A viewer with one gets a snapshot. */
function unservableCursors(session: DeliverySession, elsewhere: string): readonly string[] {
  const { uid, head } = session;
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

/** Sessions in various states. */
const moments: readonly ((session: DeliverySession) => Promise<void>)[] = [
  async () => undefined,
  async (session) => (await session.start()).write("mid-wor"),
  async (session) => {
    for (let lane = 0; lane < 4; lane += 1) await (await session.start({ lane })).write(`${lane}`);
  },
  async (session) => {
    const writer = await session.start();
    await writer.write("done");
    await session.commit(writer);
  },
  async (session) => {
    const first = await session.start();
    await first.write("first");
    await (await session.start({ again: first })).write("second");
  },
  async (session) => {
    const writer = await session.start();
    await writer.write("undone");
    await session.commit(writer);
    await session.claim(2);
  },
  async (session) => {
    const writer = await session.start({ lane: 1, tool: true });
    await writer.write("output");
    await session.acceptInput();
    await session.claim();
    await session.begin();
  },
];

/**
 * Connects with every unservable cursor in every state. Each viewer must get a snapshot first, and
 * then everything. Returns the number of connections.
 */
export async function runCursorMatrix(fixture: DeliveryFixture): Promise<number> {
  let tried = 0;
  for (const moment of moments) {
    await using opened = await fixture.open();
    await using other = await DeliverySession.open(opened);
    const elsewhere = await cursorOf(other);
    await using session = await DeliverySession.open(opened);
    await moment(session);
    const viewers: Viewer[] = [];
    for (const cursor of unservableCursors(session, elsewhere)) {
      const viewer = createViewer(session);
      viewer.connect(cursor);
      await session.until(() => viewer.messages() > 0, `an answer to ${cursor.slice(0, 80)}`);
      viewer.state();
      assertEqual(viewer.snapshots(), 1, `snapshots for the cursor ${cursor.slice(0, 80)}`);
      viewers.push(viewer);
    }
    await session.acceptInput();
    for (const writer of session.open.values()) await writer.write(" and on");
    await assertSame(session, viewers);
    for (const viewer of viewers) await viewer.cut();
    tried += viewers.length;
  }
  return tried;
}

async function cursorOf(session: DeliverySession): Promise<string> {
  const viewer = createViewer(session);
  viewer.connect();
  await viewer.cut(1);
  const cursor = viewer.cursor();
  assert(cursor !== undefined, "a cursor");
  return cursor;
}

/** A cursor that can't be served gets a snapshot: never silence, never an error. */
export const cursorCases: readonly Case<DeliveryFixture>[] = [
  {
    name: "every cursor that can't be served is answered with a snapshot, at every moment",
    run: async (fixture) => {
      const tried = await runCursorMatrix(fixture);
      assert(tried >= 200, `${tried} cursors were tried`);
    },
  },
  deliveryCase("a cursor from an earlier life of the name brings a snapshot", async (session) => {
    const old = await cursorOf(session);
    const { store, log, clock, sessionId } = session;
    await store.remove(session.uid);
    await log.remove(session.uid);
    const { uid } = await store.create({ sessionId });
    assert(uid !== session.uid, "another uid");

    const reader = session.follow({ store, log, clock, uid, sessionId, cursor: decodeCursor(old) });
    const first = await reader.next();

    const message = first.done === true ? undefined : first.value.message;
    assertEqual(message !== undefined && "items" in message, true, "it is a snapshot");
    await reader.return();
  }),
  deliveryCase("a cursor from the beginning gets every fact", async (session) => {
    const writer = await session.start();
    await writer.write("text");
    const viewer = createViewer(session);

    viewer.connect(encodeCursor({ uid: session.uid, head: 0, lanes: [] }));

    await assertSame(session, [viewer]);
    assertEqual(viewer.snapshots(), 0, "snapshots");
    assertEqual(viewer.messages(), session.head + 1, "messages: the facts, and the lane");
    await viewer.cut();
  }),
  deliveryCase("unknown lanes and positions in a cursor have no effect", async (session) => {
    const writer = await session.start({ lane: 1 });
    await writer.write("some text");
    const { uid, head } = session;
    const { epoch } = writer;
    const wrong = [
      [{ lane: 1, epoch, seq: 1_000_000 }],
      [{ lane: 1, epoch: epoch + 1, seq: 0 }],
      [{ lane: 1, epoch: epoch - 1, seq: 7 }],
      [{ lane: 0, epoch, seq: 3 }],
      [{ lane: 1, epoch, seq: 0 }],
      [{ lane: 9, epoch: 1, seq: 1 }],
      [],
    ];
    const viewers = wrong.map(() => createViewer(session));
    for (const [at, viewer] of viewers.entries()) {
      viewer.connect();
      await viewer.cut(1);
      viewer.connect(encodeCursor({ uid, head, lanes: wrong[at] ?? [] }));
    }

    await writer.write(", and more");
    await assertSame(session, viewers);
    await session.commit(writer);
    await assertSame(session, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
];
