import { APIError } from "openai";
import { beforeAll, expect, test } from "vitest";
import { Random } from "../kit/random.ts";
import { runs } from "../kit/runs.ts";
import { recordAll } from "../positions/record-all.ts";
import { heldCompletion, joined, liveCompletion, storedCompletion } from "./kit/completions.ts";
import { startOf, watchedSegments } from "./kit/segments.ts";
import type { WatchedSegment } from "./kit/segments.ts";
import { heldOutput, usedTokens, writtenOutput } from "./kit/oracle.ts";
import { heldResponse, liveEvents, merged, storedResponse } from "./kit/responses.ts";
import type { LiveWay } from "./kit/responses.ts";
import { watchedSession } from "./kit/sessions.ts";
import type { WatchedRun, WatchedSession } from "./kit/sessions.ts";

const sessions = runs(300, 20_000, 20);
/** Of these a reader comes at every place of every run. */
const whole = runs(4, 200);
const watched: WatchedSession[] = [];
const count = { responses: 0, readers: 0, items: 0, resumed: 0, anew: 0, waits: 0 };

// Sessions of the real agent: replies that fail and are repeated, takeovers, tools at once, questions, notes
// of people in between, stops, compaction. The same for each run of the test.
beforeAll(async () => {
  for (const recording of await recordAll(sessions)) watched.push(await watchedSession(recording));
}, 3_600_000);

test("a reader ends with the response that is stored, whenever it comes, and if it is slow", async () => {
  const random = new Random(21);
  for (const session of watched)
    for (const run of session.runs) {
      const held: Held[] = [];
      for (const segment of watchedSegments(session, run)) {
        held.push(await expectHeld(session, run, segment));
        for (const way of waysOf(random, session, run, segment)) follow(session, run, segment, way);
      }
      const place = `session ${session.seed}, ${run.runId}`;
      expect(heldOutput(held), place).toEqual(writtenOutput(session, run));
      const used = watchedSegments(session, run).map(
        (segment) => storedResponse(segment).json as Used,
      );
      const total = used.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0);
      expect(total, place).toBe(usedTokens(session, run));
    }
  const { responses, readers, items, anew, waits } = count;
  console.log(
    `count: Responses, ${watched.length} sessions, ${responses} responses with ${items} items, ${waits} of them wait for the client, ${readers} readers, ${anew} told to read anew, 0 differences`,
  );
  expect(anew).toBeGreaterThan(0);
  expect(anew).toBeLessThan(readers / 4);
  expect(waits).toBeGreaterThan(0);
}, 3_600_000);

test("from each number that was sent, starting_after gives the rest to the letter", () => {
  for (const session of watched)
    for (const run of session.runs)
      for (const segment of watchedSegments(session, run)) resume(session, run, segment);
  console.log(`count: Responses, resumed at ${count.resumed} numbers, 0 differences`);
}, 3_600_000);

test("a reader that comes at any place of a run is sent the same events", () => {
  for (const session of watched.slice(0, whole))
    for (const run of session.runs)
      for (const segment of watchedSegments(session, run))
        for (let from = startOf(session, run, segment); from <= run.last; from += 1)
          for (const hasSnapshot of [false, true])
            follow(session, run, segment, { from, hasSnapshot });
}, 3_600_000);

test("a completion is what is stored, streamed and whole, and for who comes while it is written", async () => {
  const counted = { completions: 0, failed: 0, anew: 0 };
  for (const session of watched)
    for (const run of session.runs) {
      const segments = watchedSegments(session, run);
      for (const segment of segments) {
        const place = `session ${session.seed}, ${run.runId} from ${segment.segment.from}`;
        const { stream, json, isFailed } = storedCompletion(segment);
        const live = liveCompletion(session, run, segment, startOf(session, run, segment));
        const isAnew = live.includes('"code":"begun_again"');
        counted.completions += 1;
        counted.anew += isAnew ? 1 : 0;
        counted.failed += isFailed ? 1 : 0;
        const held = await heldCompletion(isAnew || session.seed % 2 === 0 ? stream : live);
        if (isFailed) expect(held, place).toBeInstanceOf(APIError);
        else expect(held, place).toEqual(json);
        if (segments.length > 1) continue;
        const { texts } = writtenOutput(session, run);
        const [{ message } = { message: {} }] = json.choices;
        expect(message.content ?? "", place).toBe(joined(texts, "text"));
        expect(message.reasoning_content ?? "", place).toBe(joined(texts, "reasoning"));
      }
    }
  const { completions, failed, anew } = counted;
  console.log(
    `count: chat completions, ${completions} completions, ${failed} of them failed, ${anew} begun again, 0 differences`,
  );
  expect(completions - failed).toBeGreaterThan(failed);
}, 3_600_000);

/** What the library holds after all events, and without the last one, which says everything once more. */
async function expectHeld(
  session: WatchedSession,
  run: WatchedRun,
  segment: WatchedSegment,
): Promise<Held> {
  const place = `session ${session.seed}, ${run.runId} from ${segment.segment.from}`;
  const stored = storedResponse(segment);
  const live = liveEvents(session, run, segment, { from: startOf(session, run, segment) });
  const events = live.at(-1)?.type === "error" ? stored.events : live;
  const isWhole = session.seed % 2 === 0;
  const held = (await heldResponse(isWhole ? events : events.slice(0, -1))) as Held;
  const json = stored.json as Held;
  if (isWhole) expect(held, place).toEqual(json);
  else expect(held.output, place).toEqual(json.output);
  const { output } = held;
  count.responses += 1;
  count.items += output.length;
  if (/function_call|approval_request/.test(output.at(-1)?.type ?? "")) count.waits += 1;
  return held;
}

interface Used {
  readonly usage: { readonly total_tokens: number } | null;
}

type Held = Parameters<typeof heldOutput>[0][number];

/** Follows a segment by one way. A reader whose text was taken back is told to read anew. */
function follow(
  session: WatchedSession,
  run: WatchedRun,
  segment: WatchedSegment,
  way: LiveWay,
): void {
  const place = `session ${session.seed}, ${run.runId} from ${segment.segment.from}, ${JSON.stringify(way)}`;
  const live = liveEvents(session, run, segment, way);
  count.readers += 1;
  const last = live.at(-1);
  if (last?.type === "error" && last["code"] === "begun_again") {
    count.anew += 1;
    return;
  }
  expect(merged(live), place).toEqual(merged(storedResponse(segment).events));
}

/** From each number that a reader has, the rest by what is stored. */
function resume(session: WatchedSession, run: WatchedRun, segment: WatchedSegment): void {
  const from = startOf(session, run, segment);
  const live = liveEvents(session, run, segment, { from });
  if (live.at(-1)?.type === "error") return;
  const all = merged(live);
  for (const [at, { sequence_number: after }] of live.entries()) {
    const rest = storedResponse(segment, after).events;
    expect(merged([...live.slice(0, at + 1), ...rest])).toEqual(all);
    count.resumed += 1;
  }
}

function waysOf(
  random: Random,
  session: WatchedSession,
  run: WatchedRun,
  segment: WatchedSegment,
): readonly LiveWay[] {
  const first = startOf(session, run, segment);
  const any = (): number => first + random.below(Math.max(1, run.last - first));
  const [start = first, end = run.last] = [any(), any()].toSorted((left, right) => left - right);
  return [{ from: first }, { from: any() }, { from: first, slow: [start, end] }];
}
