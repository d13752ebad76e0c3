import { expect, test } from "vitest";
import { Random } from "../kit/random.ts";
import { firstSeed, runs } from "../kit/runs.ts";
import { AgUiPage, historyMessages } from "./kit/ag-ui-page.ts";
import { versions } from "./kit/chat.ts";
import { readCutCompletion, readCutResponse } from "./kit/cut-readers.ts";
import type { CutReader, CutReading } from "./kit/cut-readers.ts";
import { attemptsOf, isSpliced, recordMarked } from "./kit/marked.ts";
import { comparable, historyMessage, Page } from "./kit/page.ts";
import { watchedSegments } from "./kit/segments.ts";

const sessions = runs(1_000, 20_000, 40);
const atOnce = 20;

// In these sessions each attempt at a reply writes a character of its own. Readers are cut anywhere, and come back
// at once, later, behind a takeover or after the end. Whatever one shows at any moment has to be of one attempt.
test("no reader that is cut ever shows two attempts at one reply, and it ends with what is stored", async () => {
  const count = { replies: 0, superseded: 0, cuts: 0, anew: 0, spliced: 0 };
  const end = firstSeed + sessions;
  for (let first = firstSeed; first < end; first += atOnce) {
    const length = Math.min(atOnce, end - first);
    const seeds = Array.from({ length }, (_, at) => first + at);
    for (const session of await recordMarked(seeds)) {
      const attempts = attemptsOf(session);
      const replies = new Set(attempts.values()).size;
      count.replies += replies;
      count.superseded += attempts.size - replies;
      const random = new Random(session.seed);
      const isWrong = (text: string): boolean => isSpliced(attempts, text);
      for (const run of session.runs)
        for (const read of [readResponses, readAiSdk, readAgUi])
          add(count, await read({ session, run, random, isSpliced: isWrong }));
    }
  }
  const { replies, superseded, cuts, anew, spliced } = count;
  console.log(
    `count: four dialects, ${sessions} sessions from ${firstSeed}, ${replies} replies, ${superseded} attempts superseded, ${cuts} cuts, ${anew} asked to read anew, ${spliced} spliced messages, ${spliced} failures`,
  );
  expect(spliced).toBe(0);
  expect(superseded).toBeGreaterThan(sessions / 10);
  expect(anew).toBeGreaterThan(0);
}, 7_200_000);

test("a session that a campaign found to come out wrong comes out right", async () => {
  // A question is answered after another driver has carried its call out without an answer.
  const [session] = await recordMarked([138]);
  const run = session?.runs[0];
  if (session === undefined || run === undefined) throw new Error("no run was recorded");

  const { message } = await new Page(7, session, run, { from: 2, cuts: [33, 19] }).read();

  expect(comparable(7, message)).toEqual(historyMessage(7, session, run));
});

/** What a kind of reader went through in one run. */
type Read = (reader: CutReader) => CutReading | Promise<CutReading>;

const readResponses: Read = (reader) => {
  const count = { cuts: 0, anew: 0, spliced: 0 };
  for (const watched of watchedSegments(reader.session, reader.run))
    for (const read of [readCutResponse, readCutCompletion]) {
      const { held, stored, ...counted } = read(reader, watched);
      expect(held, `${placeOf(reader)} from ${watched.segment.from}`).toEqual(stored);
      add(count, counted);
    }
  return count;
};

const readAiSdk: Read = async (reader) => {
  const { session, run, random, isSpliced } = reader;
  const way = wayOf(reader);
  const version = random.pick(versions);
  let spliced = 0;
  const onChange = (messages: unknown): void =>
    void (spliced += isSpliced(JSON.stringify(messages)) ? 1 : 0);
  const { message, reloads } = await new Page(version, session, run, way, onChange).read();
  const place = `${placeOf(reader)}, version ${version}, ${JSON.stringify(way)}`;
  expect(comparable(version, message), place).toEqual(historyMessage(version, session, run));
  return { cuts: way.cuts.length, anew: reloads, spliced };
};

const readAgUi: Read = async (reader) => {
  const { session, run, random, isSpliced } = reader;
  const way = wayOf(reader);
  const isVersion1 = random.chance(0.5);
  let spliced = 0;
  const onChange = (messages: unknown): void =>
    void (spliced += isSpliced(JSON.stringify(messages)) ? 1 : 0);
  const { messages } = await new AgUiPage(session, run, way, isVersion1, onChange).read();
  const place = `${placeOf(reader)}, 1.0: ${isVersion1}, ${JSON.stringify(way)}`;
  expect(messages, place).toEqual(historyMessages(session, run));
  return { cuts: way.cuts.length, anew: 0, spliced };
};

function wayOf({ run, random }: CutReader): {
  readonly from: number;
  readonly cuts: readonly number[];
  readonly away: number;
} {
  const { first, last } = run;
  const any = (): number => first + 1 + random.below(last - first);
  const cuts = Array.from({ length: 1 + random.below(3) }, any);
  return { from: first, cuts, away: random.pick([0, 0, random.below(20), last]) };
}

function add(sum: Record<keyof CutReading, number>, each: CutReading): void {
  sum.cuts += each.cuts;
  sum.anew += each.anew;
  sum.spliced += each.spliced;
}

function placeOf({ session, run }: CutReader): string {
  return `session ${session.seed}, ${run.runId}`;
}
