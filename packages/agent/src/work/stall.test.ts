import type { Model, RunEvent } from "@millrace/core";
import { manualClock, say, scriptedModel, stall } from "@millrace/core/testing";
import type { ManualClock, ScriptedReply } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import type { AgentSettings } from "../definition/settings.ts";
import type { RunResult } from "../session/run.ts";

const minute = 60_000;
const once = { attempts: 1, baseMs: 1, capMs: 1 };
const twice = { ...once, attempts: 2 };

interface Story {
  readonly result: RunResult;
  /** The silence in each report of a stall. */
  readonly reports: readonly number[];
  readonly attempts: number;
  readonly minutes: number;
}

/** Runs a script on a simulated clock, until it ends or the time is up. */
async function play(
  replies: readonly ScriptedReply[],
  settings: Partial<AgentSettings<[]>> = {},
  most = 60 * minute,
  wrap: (model: Model, clock: ManualClock) => Model = (model) => model,
): Promise<Story | undefined> {
  const clock: ManualClock = manualClock();
  const events: RunEvent[] = [];
  const model = wrap(scriptedModel(replies, { clock }), clock);
  const observers = [(event: RunEvent): void => void events.push(event)];
  const agent = defineAgent({ model, retry: once, observers, ...settings });
  const session = await agent.open({ clock });
  const ended: RunResult[] = [];
  void session.send("think").result.then((came) => ended.push(came));
  while (ended.length === 0 && clock.now() < most) await clock.advance(1_000);
  const [result] = ended;
  const story = result === undefined ? undefined : storyOf(result, events, clock.now());
  const closing = session.close();
  await clock.advance(minute);
  await closing;
  return story;
}

function storyOf(result: RunResult, events: readonly RunEvent[], now: number): Story {
  return {
    result,
    reports: events.flatMap((event) => (event.type === "stalled" ? [event.silentMs] : [])),
    attempts: events.filter(({ type }) => type === "attempt_started").length,
    minutes: Math.round(now / minute),
  };
}

describe("without a setting", () => {
  it("nine minutes of silent thinking are one attempt", async () => {
    const story = await play([[stall(9 * minute), say("42")]]);

    expect(story).toMatchObject({ result: { outcome: "completed", text: "42" }, attempts: 1 });
  });

  it("a stall is reported after 30 seconds, and again every 30 seconds", async () => {
    const story = await play([[stall(100_000), say("42")]]);

    expect(story?.reports).toStrictEqual([30_000, 60_000, 90_000]);
  });

  it("a stall is given up after ten minutes, with its cause", async () => {
    const story = await play([[stall()]]);

    expect(story).toMatchObject({
      result: { outcome: "failed", cause: { code: "stalled", retryable: true } },
      minutes: 10,
    });
  });

  it("each delta restarts the time", async () => {
    const silences = Array.from({ length: 8 }, () => [stall(9 * minute), say("a")]).flat();

    const story = await play([silences], {}, 80 * minute);

    expect(story).toMatchObject({ result: { outcome: "completed" }, attempts: 1, minutes: 72 });
  });
});

describe("with a setting", () => {
  it("reports and gives up after its times, and reports no shorter silence", async () => {
    const settings = { stall: { reportAfterMs: 2_000, giveUpAfterMs: 5_000 } };

    const story = await play([[stall(1_900), say("a"), stall(1_900), say("b"), stall()]], settings);

    expect(story).toMatchObject({
      reports: [2_000, 4_000],
      result: { cause: { code: "stalled" } },
    });
  });

  it("may give up before the first report is due", async () => {
    const story = await play([[stall()]], { stall: { giveUpAfterMs: 5_000 } });

    expect(story).toMatchObject({ reports: [], result: { cause: { code: "stalled" } } });
  });

  it("may report and never give up", async () => {
    const settings = { stall: { reportAfterMs: 10 * minute, giveUpAfterMs: Infinity } };

    const story = await play([[stall(50 * minute), say("42")]], settings);

    expect(story?.reports).toStrictEqual([10, 20, 30, 40].map((at) => at * minute));
    expect(story?.result).toMatchObject({ outcome: "completed", text: "42" });
  });

  it("of false neither reports nor gives up", async () => {
    const story = await play([[stall(50 * minute), say("42")]], { stall: false });

    expect(story).toMatchObject({ reports: [], result: { outcome: "completed" }, attempts: 1 });
    expect(await play([[stall()]], { stall: false })).toBeUndefined();
  });

  it("that is left out in part keeps the rest of the defaults", async () => {
    const story = await play([[stall()]], { stall: { reportAfterMs: 5 * minute } });

    expect(story).toMatchObject({ reports: [5 * minute], minutes: 10 });
  });

  it.each([0, -1, Number.NaN, "30"])("of %s milliseconds is refused", (ms) => {
    for (const name of ["reportAfterMs", "giveUpAfterMs"]) {
      const given = { [name]: ms } as { readonly giveUpAfterMs: number };
      const define = (): unknown => defineAgent({ model: scriptedModel([]), stall: given });

      expect(define).toThrow(expect.objectContaining({ code: "invalid_definition" }) as Error);
    }
  });
});

describe("a vendor that sends keep-alives", () => {
  /** Bytes come twice a minute, for this long. */
  const pinging = (clock: ManualClock, model: Model, forMs: number): Model => ({
    id: model.id,
    stream: (request) => {
      void (async () => {
        while (clock.now() < forMs && request.signal?.aborted !== true) {
          await clock.sleep(minute / 2, request.signal);
          request.onBytes?.();
        }
      })();
      return model.stream(request);
    },
  });

  it.each([
    [29, Infinity, "completed", 29],
    [31, Infinity, "failed", 30],
    [31, 5, "failed", 10],
    [31, 12, "failed", 17],
  ])(
    "and thinks for %i minutes, with bytes for %s, has %s after %i",
    async (thinks, alive, outcome, minutes) => {
      const wrap = (model: Model, clock: ManualClock): Model =>
        pinging(clock, model, alive * minute);

      const story = await play([[stall(thinks * minute), say("42")]], {}, 60 * minute, wrap);

      expect(story).toMatchObject({ result: { outcome }, minutes, attempts: 1 });
    },
  );

  it("is not asked again by itself: the request was worked on", async () => {
    const wrap = (model: Model, clock: ManualClock): Model => pinging(clock, model, Infinity);

    const story = await play([[stall()], [say("42")]], { retry: twice }, 60 * minute, wrap);

    expect(story).toMatchObject({
      result: { outcome: "failed", cause: { code: "stalled", retryable: false } },
      attempts: 1,
    });
  });
});

describe("an attempt that stalled", () => {
  it("is repeated by the agent's retry policy, and the next one has the whole time again", async () => {
    const replies = [
      [say("Hm"), stall()],
      [stall(9 * minute), say("42")],
    ];

    const story = await play(replies, { retry: twice });

    expect(story).toMatchObject({ result: { outcome: "completed", text: "42" }, attempts: 2 });
  });

  it("ends the run when the policy allows no other", async () => {
    const story = await play([[stall()], [stall()], [say("never")]], { retry: twice });

    expect(story).toMatchObject({ result: { outcome: "failed" }, attempts: 2, minutes: 20 });
  });

  it("ends without its model if that does not stop", async () => {
    const deaf = () => [stall()];
    const clock = manualClock();
    const model = scriptedModel([deaf, [say("42")]], { clock });
    const agent = defineAgent({
      model: { id: "deaf", stream: (request) => model.stream({ ...request, signal: undefined }) },
      retry: twice,
    });
    const session = await agent.open({ clock });
    const { result } = session.send("think");

    await clock.advance(11 * minute);

    expect(session.status).toBe("idle");
    expect(await result).toMatchObject({ outcome: "completed", text: "42" });
  });
});
