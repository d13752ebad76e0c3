import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import type { Caller } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { textsOf } from "./reader.ts";
import type { EventReader, StreamMessage } from "./reader.ts";
import { decide, untilApproval } from "./steps.ts";

const httpCase = casesOf("events");

const isRunEnd = ({ type }: HttpBody): boolean => type === "run_finished";

interface Wanted {
  readonly id: string;
  readonly cursor?: string | undefined;
}

const watchMany = (caller: Caller, sessions: readonly Wanted[], more = {}): Promise<EventReader> =>
  caller.open("/v1/events", { method: "POST", body: { sessions, ...more } });

/** The uid in a cursor: it names the session of a message. */
const uidOf = ({ id = "" }: StreamMessage): string => id.split(".")[1] ?? "";

/** The uids of these sessions, by their snapshots. */
async function uidsOf(caller: Caller, ids: readonly string[]): Promise<readonly string[]> {
  const answers = ids.map((id) => caller.expect(200, "GET", `/v1/sessions/${id}/snapshot`));
  return (await Promise.all(answers)).map(({ body }) => body.snapshot?.uid ?? "");
}

/** Many sessions over one connection. */
export const manyCases: readonly HttpCase[] = [
  httpCase(55, "one stream carries fifty sessions, and no message crosses", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const ids = await Promise.all(Array.from({ length: 48 }, () => ann.session()));
    const uids = await uidsOf(ann, ids);
    const [gone, foreign] = [await ann.session(), await bob.session()];
    using reader = await watchMany(
      ann,
      [...ids.slice(0, 24), foreign, gone, ...ids.slice(24)].map((id) => ({ id })),
    );
    const run = (of: readonly string[], from: number): Promise<unknown> =>
      Promise.all(of.map((id, at) => ann.ran(id, `say session <${from + at}>`)));
    await reader.until(({ sessionId }) => sessionId === gone, "its snapshot");
    await run(ids.slice(0, 24), 0);
    await bob.ran(foreign, "say foreign words");
    await ann.expect(204, "DELETE", `/v1/sessions/${gone}`);
    const isGone = ({ type, sessionId }: HttpBody): boolean =>
      type === "stream_ended" && sessionId === gone;
    const removed = await reader.until(isGone, "its end");
    await run(ids.slice(24), 24);
    const of = (uid: string): readonly StreamMessage[] =>
      reader.messages.filter((one) => uidOf(one) === uid);
    for (const uid of uids)
      while (!of(uid).some(({ message }) => isRunEnd(message)))
        await reader.until(isRunEnd, "each run ends", reader.messages.length);

    assertEqual([removed.message.reason, removed.id], ["removed", undefined], "it is named");
    const ends = reader.messages.filter(({ message }) => message.type === "stream_ended");
    const named = ends.map(({ message: { sessionId, reason } }) => `${sessionId} ${reason}`);
    assertEqual(named, [`${foreign} not_found`, `${gone} removed`], "two end, and no other");
    assert(!reader.raw().includes("foreign words"), "nothing of the foreign one comes");
    for (const [at, uid] of uids.entries()) {
      const text = of(uid)
        .map(({ line }) => line)
        .join("\n");
      assert(text.includes(`session <${at}>`), `session ${at} has its text`);
      const marks = new Set(Array.from(text.matchAll(/session <\d+>/g), ([mark]) => mark));
      assertEqual([...marks], [`session <${at}>`], "and no other's");
      assertEqual(textsOf(reader.state(uid)).at(-1), `session <${at}>`, "it is shown whole");
    }
  }),
  httpCase(55, "a foreign session in a set looks like a missing one", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const [own, foreign] = [await ann.session(), await bob.session()];
    const end = async (id: string): Promise<string> => {
      using reader = await watchMany(ann, [{ id: own }, { id }]);
      const { line } = await reader.until(({ type }) => type === "stream_ended", "its end");
      return line.replaceAll(id, "");
    };
    const missing = `s-${foreign.slice(2).split("").toReversed().join("")}`;
    assertEqual(await end(foreign), await end(missing), "to the letter");
  }),
  httpCase(
    56,
    "a changed set of sessions is opened with cursors, and nothing comes twice",
    async ({ person }) => {
      const ann = person();
      const [first, second] = [await ann.session(), await ann.session()];
      await ann.ran(first, "say one");
      using before = await watchMany(ann, [{ id: first }]);
      const { id: cursor } = await before.until(() => true, "the snapshot");
      before.close();
      using after = await watchMany(ann, [{ id: first, cursor }, { id: second }]);
      const { message } = await after.until(() => true, "a message");

      assertEqual(
        [message.type, message.sessionId],
        ["snapshot", second],
        "only the new one is sent",
      );
      await ann.ran(first, "say two");
      await after.until(isRunEnd, "the run of the first ends");
      const again = after.messages.filter(
        ({ message: { type, sessionId } }) => type === "snapshot" && sessionId === first,
      );
      assertEqual(again.length, 0, "the old one was not sent again");
    },
  ),
  httpCase(
    36,
    "a sub-agent that begins later joins its root's stream, and leaves it when it is done",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      using reader = await watchMany(ann, [{ id }], { children: true });
      const asks = JSON.stringify({ prompt: 'call refund {"order":"A1","cents":1}' });
      await ann.post(id, `call packer ${asks}`);
      const asked = await untilApproval(ann, id, "?deep=true");
      const child = asked.sessionId ?? "";
      await reader.until(
        ({ type, sessionId }) => type === "snapshot" && sessionId === child,
        "the sub-agent's session",
      );
      await decide(ann, encodeURIComponent(child), asked, { decision: "allow" });
      await reader.until(({ type }) => type === "approval_resolved", "its question is answered");
      await reader.until(
        ({ type, reason, sessionId }) =>
          type === "stream_ended" && reason === "finished" && sessionId === child,
        "the sub-agent's part of the stream ends",
      );
      await reader.until(isRunEnd, "the run of the root ends");
    },
  ),
  httpCase(36, "sub-agents that run are watched with their root", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const asks = JSON.stringify({ prompt: 'call refund {"order":"A1","cents":1}' });
    await ann.post(id, `call packer ${asks}`);
    const asked = await untilApproval(ann, id, "?deep=true");
    using reader = await watchMany(ann, [{ id }], { children: true });
    const isChild = ({ type, sessionId }: HttpBody): boolean =>
      type === "snapshot" && sessionId === asked.sessionId;
    await reader.until(isChild, "the sub-agent's session");
    const child = encodeURIComponent(asked.sessionId ?? "");
    await decide(ann, child, asked, { decision: "allow" });
    await reader.until(({ type }) => type === "approval_resolved", "its question is answered");
  }),
];
