import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { inputId } from "../ids.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { begin, openInboxFixture, question, reply } from "../testing/inbox-fixture.ts";
import type { Inbox } from "./inbox.ts";

const times = runs(300, 20_000);

/** A call that a client makes until it is answered. */
type Call =
  | { readonly kind: "send" | "steer" | "followUp"; readonly key: string }
  | { readonly kind: "takeBack"; readonly key: string }
  | { readonly kind: "allow" | "deny" | "answer" | "abort" };

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      "send" as const,
      "steer" as const,
      "followUp" as const,
      "takeBack" as const,
    ),
    key: fc.constantFrom("a", "b", "c"),
  }),
  fc.record({
    kind: fc.constantFrom("allow" as const, "deny" as const, "answer" as const, "abort" as const),
  }),
);

function make(inbox: Inbox, made: Call): Promise<{ readonly accepted: boolean }> {
  switch (made.kind) {
    case "send":
    case "steer":
    case "followUp":
      return inbox[made.kind](`text of ${made.key}`, { key: made.key });
    case "takeBack":
      return inbox.takeBack(`input_${made.key}`);
    case "allow":
    case "deny":
      return inbox[made.kind]("q1");
    case "answer":
      return inbox.answer({ callId: "call_1" }, { output: 1 });
    case "abort":
      return inbox.abort({ runId: "run_begun" });
    default:
      made satisfies never;
      throw new Error("not a call");
  }
}

it("any mix of repeats, lost answers and calls at once stores each once and answers alike", async () => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(call, fc.nat(2)), { maxLength: 24 }),
    fc.infiniteStream(fc.constantFrom("lost before", "lost after", "answered" as const)),
    fc.scheduler(),
    async (calls, fates, scheduler) => {
      const { store, open, claim, append, uid } = await openInboxFixture();
      await open().send("first", { key: "begun" });
      await claim();
      const begun = inputId("input_begun");
      await append(...begin(begun), question(begun, "q1"), reply(begun, ["call_1"]));
      const before = await store.head(uid);
      let losses = 60; // then the network is sound, so that each client ends
      const accept: SessionStore["accept"] = async (...given) => {
        await scheduler.schedule(Promise.resolve(), "request");
        const fate = losses > 0 ? (fates.next().value as string) : "answered";
        if (fate === "lost before") {
          losses -= 1;
          throw new Error("lost before it was stored");
        }
        const outcome = await store.accept(...given);
        await scheduler.schedule(Promise.resolve(), "answer");
        if (fate === "answered") return outcome;
        losses -= 1;
        throw new Error("lost after it was stored");
      };
      const inboxes = [0, 1, 2].map(() => open({ store: { ...store, accept } }));
      const untilAnswered = async ([made, at]: readonly [Call, number]): Promise<object> => {
        for (;;) {
          const answer = await make(inboxes[at] as Inbox, made);
          if (!("reason" in answer) || answer.reason !== "failed") return answer;
        }
      };
      const answers = Promise.all(calls.map(untilAnswered));
      await scheduler.waitFor(answers);

      const facts = (await store.read(uid)).slice(before);
      const names = facts.map((fact) => {
        if (fact.type === "approval_resolved") return "q1";
        const { inputId: id, type } = fact as { type: string; inputId: string };
        return `${type} ${id}`;
      });
      expect(new Set(names).size, names.join(", ")).toBe(names.length);
      // Accepted answers to one call are equal, but for whether they are repeats.
      const seen = new Map<string, object>();
      for (const [at, answer] of (await answers).entries()) {
        if (!("n" in answer)) continue;
        const { replayed: _, ...receipt } = answer as { replayed?: boolean };
        const name = JSON.stringify(calls[at]?.[0]);
        expect(receipt).toEqual(seen.get(name) ?? receipt);
        seen.set(name, receipt);
        expect(facts.some((fact) => fact.n === answer.n)).toBe(true);
      }
      expect(seen.size).toBe(new Set(facts.filter(isNoStop).map(({ n }) => n)).size);
    },
  );
  await fc.assert(property, { numRuns: times });
  console.log(`count: posts of one key are stored once, ${times}, 0 failures`);
});

/** A stop's answer names its run in place of its fact. */
function isNoStop(fact: {
  readonly type: string;
  readonly input?: { readonly kind?: string };
}): boolean {
  return fact.input?.kind !== "abort";
}
