import { defineAgent } from "@millrace/agent";
import { createClient, seenMarks } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

function memoryStorage(): Pick<Storage, "getItem" | "setItem"> {
  const texts = new Map<string, string>();
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
  };
}

it("what came while a person was away is new in the session and unread in the list, until it is seen", async () => {
  const agent = defineAgent({ model: scriptedModel([[say("One.")], [say("Two.")]]) });
  await using served = await serve(agent);
  using client = createClient({ url: served.url, token: "ann" });
  using phone = createClient({ url: served.url, token: "ann" });
  const storage = memoryStorage();
  const session = client.session("away");
  await session.send("First").result;
  session.subscribe(() => undefined);
  await until(() => session.status === "idle" && session.items.length === 2, "it is shown");
  const row = async (): Promise<{ id: string; head: number }> => {
    const { sessions } = await client.sessions();
    return sessions[0] ?? { id: "", head: 0 };
  };
  expect([seenMarks(storage).isUnread(await row()), seenMarks(storage).newItems(session)]).toEqual([
    true,
    2,
  ]);
  seenMarks(storage).mark(session);
  const seen = seenMarks(storage); // after a reload
  expect([seen.isUnread(await row()), seen.isUnread(session), seen.newItems(session)]).toEqual([
    false,
    false,
    0,
  ]);
  await phone.session("away").send("Second").result;
  await until(() => session.items.length === 4 && session.status === "idle", "more is shown");

  expect([seen.isUnread(await row()), seen.isUnread(session), seen.newItems(session)]).toEqual([
    true,
    true,
    2,
  ]);
  seen.mark(session);
  expect([seen.isUnread(await row()), seen.newItems(session)]).toEqual([false, 0]);
});

it("marks are bounded, and where nothing can be stored they last as long as they are held", () => {
  const storage = memoryStorage();
  const marks = seenMarks(storage);
  for (let at = 0; at < 600; at += 1) marks.mark({ id: `s${at}`, head: 3, items: [] });
  expect(marks.isUnread({ id: "s99", head: 3 })).toBe(true);
  expect(marks.isUnread({ id: "s100", head: 3 })).toBe(false);

  const denied = seenMarks({
    getItem: () => {
      throw new Error("denied");
    },
    setItem: () => {
      throw new Error("denied");
    },
  });
  denied.mark({ id: "s", head: 3, items: [] });
  expect([denied.isUnread({ id: "s", head: 3 }), denied.isUnread({ id: "s", head: 4 })]).toEqual([
    false,
    true,
  ]);
});

it.each(["null", "5", "[]", "{", '"s"', '{"s":null}', '{"s":5}'])(
  "marks that something else has written over with %s are none",
  (text) => {
    const storage = memoryStorage();
    storage.setItem("millrace:seen", text);
    const marks = seenMarks(storage);
    expect(marks.isUnread({ id: "s", head: 3 })).toBe(true);
    expect(marks.newItems({ id: "s", head: 3, items: [] })).toBe(0);
    marks.mark({ id: "s", head: 3, items: [] });
    expect(marks.isUnread({ id: "s", head: 3 })).toBe(false);
  },
);
