/** A session goes on after its vendor has refused what a model had thought before. */
import { defineAgent } from "@millrace/agent";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";
import { vendorTargets } from "./vendors.ts";

test.for(
  vendorTargets
    .filter(({ name }) => name !== "deepSeek")
    .map((target) => [target.name, target] as const),
)(
  "with %s under another account the first send takes one request more, and later ones none",
  async ([, target]) => {
    let account = "first";
    const vendors = new Map(
      ["first", "second"].map((name) => [name, target.open({ now: () => 0, account: name })]),
    );
    await using server = await startVendorServer({
      replies: (request) => {
        const vendor = vendors.get(account);
        if (vendor === undefined) throw new Error("no such account");
        return vendor.answer(request, ({ number }) => ({
          think: "Hm.",
          text: `Answer ${number}.`,
        }));
      },
    });
    const agent = defineAgent({ model: target.model(target.models[0] ?? "", server.url, "error") });
    const [store, log] = [memorySessionStore(), memoryEventLog()];
    const send = async (): Promise<string> => {
      await using session = await agent.open({ id: "s", store, log });
      return (await session.send("go").result).outcome;
    };
    expect([await send(), await send()]).toEqual(["completed", "completed"]);

    account = "second";
    const outcomes = [await send(), await send(), await send(), await send()];

    expect(outcomes).toEqual(outcomes.map(() => "completed"));
    expect(vendors.get("second")?.refused.length).toBeLessThanOrEqual(1);
  },
);
