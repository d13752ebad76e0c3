/** P34: nothing that a session goes through makes a vendor refuse its next request. */
import { expect, test } from "vitest";
import { runs } from "../kit/runs.ts";
import { playSession } from "./play-session.ts";
import { vendorTargets } from "./vendors.ts";

const count = runs(100, 10_000, 12);
const first = Number(process.env["SEED"] ?? 1);

test.for(
  vendorTargets.flatMap((target) =>
    (["error", "drop_block"] as const).map((net) => [target.name, net, target] as const),
  ),
)(
  "%s refuses nothing, whatever changes between its requests (%s)",
  { timeout: 60_000 + count * 10_000 },
  async ([name, net, target]) => {
    const refused = new Map<string, string>();
    const total = { sends: 0, read: 0, all: 0, requests: 0, dropped: 0 };
    for (let seed = first; seed < first + count; seed += 1) {
      const { vendor, sends } = await playSession(seed, target, { net, hasFaults: seed % 2 === 0 });
      for (const message of vendor.refused) {
        const sort = message.replaceAll(/\d+/g, "0");
        if (!refused.has(sort)) refused.set(sort, `SEED=${seed}: ${message}`);
      }
      for (const { kind, outcome, why } of sends)
        if (outcome !== "completed") refused.set(kind, `SEED=${seed}: ${kind}: ${outcome} ${why}`);
      const fits = vendor.dropped.filter(({ reason }) => !reason.startsWith("model_"));
      total.dropped += fits.length;
      total.sends += sends.length;
      total.read += vendor.bill.read;
      total.all += vendor.bill.total;
      total.requests += vendor.bill.requests;
    }

    expect([...refused.values()]).toEqual([]);
    expect(total.dropped).toBe(0);
    const share = ((100 * total.read) / total.all).toFixed(1);
    console.log(
      `count: P34 ${name}, ${net}: ${count} sessions, ${total.sends} sends, ${total.requests} requests, 0 refused, ${share} % cached`,
    );
  },
);
