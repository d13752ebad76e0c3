import { inputId, partId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { allow, Driving } from "../testing/driving.ts";
import { standingOfOutlines } from "./advance.ts";
import { standingOf } from "./standing-of.ts";
import { callsToRemember } from "./limits.ts";
import { outline } from "./outline.ts";

/** A session with this many turns of three calls with long arguments each. */
function longSession(turns: number): Driving {
  const session = new Driving({ limits: { repeats: 3 } });
  // Ids as they are made: 32 digits in each.
  const id = inputId("input_5f0c2a6b9d3e4f718a2b3c4d5e6f7081");
  const parts = [{ kind: "text", id: partId("p1"), text: "go ".repeat(1_000) }] as const;
  session.accept(id, { type: "input_accepted", inputId: id, input: { kind: "prompt", parts } });
  for (let turn = 0; turn < turns; turn += 1) {
    const calls = [1, 2, 3].map((number) => ({
      callId: `call_${String(turn).padStart(20, "0")}${number}`,
      tool: "look",
      raw: JSON.stringify({ path: `${turn}/${number}`, text: "x".repeat(2_000) }),
    }));
    session.settle();
    session.endReply({ stop: "tools", calls });
    session.settle();
    session.endAssessing(allow);
    session.settle();
    for (const call of [1, 2, 3]) session.endCall(session.call(call).itemId, "ok");
  }
  return session;
}

describe("outlines", () => {
  const session = longSession(1_000);
  const { facts } = session.ledger;
  const outlines = facts.map(outline);
  const bytes = (value: unknown): number => JSON.stringify(value).length;

  it("of a session of 1,000 turns with 3 calls in each have at most 150 bytes on average", () => {
    const average = bytes(outlines) / outlines.length;
    const whole = bytes(facts) / facts.length;

    console.log(
      `outlines: ${outlines.length} facts, ${average.toFixed(0)} bytes each; whole: ${whole.toFixed(0)}`,
    );
    expect(facts.length).toBeGreaterThan(12_000);
    expect(average).toBeLessThanOrEqual(150);
  });

  it("lead to where the session stands in at most 6 KB, however long it is", () => {
    const remember = callsToRemember(session.settings);
    const standing = standingOfOutlines(outlines, remember);

    console.log(`standing after 1,000 turns: ${bytes(standing)} bytes`);
    expect(standing).toStrictEqual(session.standing);
    expect(standing).toStrictEqual(standingOf(facts, remember));
    expect(bytes(standing)).toBeLessThanOrEqual(6_000);
  });

  it("hold nothing that people, models or tools wrote", () => {
    const secret = new Driving();
    const parts = [{ kind: "text", id: partId("p1"), text: "SECRET" }] as const;
    secret.input({ kind: "prompt", parts, options: { limits: { turns: 2 }, output: "SECRET" } });
    secret.settle();
    secret.endReply({
      stop: "tools",
      calls: [{ callId: "c1", tool: "look", raw: '{"a":"SECRET"}' }],
    });
    secret.settle();
    secret.endAssessing(() => ({ decision: "ask", hash: "h" }));
    secret.settle();
    secret.decideOn(1, "deny", "SECRET");
    secret.settle();
    secret.endReply({ stop: "failed", cause: { code: "broken", message: "SECRET" } });
    secret.settle();

    const { facts: all } = secret.ledger;
    expect(JSON.stringify(all)).toContain("SECRET");
    expect(JSON.stringify(all.map(outline))).not.toContain("SECRET");
    expect(JSON.stringify(secret.standing)).not.toContain("SECRET");
  });
});
