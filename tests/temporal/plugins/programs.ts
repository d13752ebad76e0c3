/** Workflows of programs that ask models by an activity of their own. */
import { ApplicationFailure, continueAsNew, proxyActivities } from "@temporalio/workflow";
import { finishRun } from "@millrace/temporal/plugin-workflow";

interface Activities {
  readonly ask: (question: string) => Promise<string>;
}

const { ask } = proxyActivities<Activities>({
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "2 s",
});

/** Asks for everything at the same time. */
export async function together(questions: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(questions.map((question) => ask(question)));
}

/** Asks, and fails by itself. */
export async function failing(question: string): Promise<never> {
  await ask(question);
  throw ApplicationFailure.nonRetryable("the tickets are sold out");
}

/** Asks once in each of its runs, of which Temporal begins so many. */
export async function chapters(left: number): Promise<string> {
  const said = await ask(`chapter ${left}`);
  if (left === 1) return said;
  return await continueAsNew<typeof chapters>(left - 1);
}

/** Asks for one thing after the other, each in a run of the session's own. */
export async function rounds(questions: readonly string[]): Promise<void> {
  for (const question of questions) {
    await ask(question);
    await finishRun();
  }
}

/** Asks for one thing after the other, in one run of the session. */
export async function inTurn(questions: readonly string[]): Promise<readonly string[]> {
  const said: string[] = [];
  for (const question of questions) said.push(await ask(question));
  return said;
}
