import { runId } from "@millrace/core/writing";
import type { DeliverySession } from "./delivery-session.ts";

/** The number of items that the conversation commits. */
export const conversationItems = 6;

/**
 * Writes a conversation with every kind of content: inputs, turns, parallel tools, reasoning, and a
 * second attempt that replaces the first. Awaits `pause` after each step, so that viewers can read.
 */
export async function converse(
  session: DeliverySession,
  pause: () => Promise<void>,
): Promise<void> {
  await pause();
  await session.acceptInput();
  await pause();
  await speak(session, ["I ", "will ", "look ", "that ", "up 🔎."], pause);
  await useTools(session, pause);
  await session.nextTurn();
  await pause();

  const first = await session.start();
  await pause();
  await first.write("A first try that is ");
  await pause();
  const second = await session.start({ again: first });
  await pause();
  second.part("reasoning");
  for (const word of ["Hm, ", "no. "]) {
    await second.write(word);
    await pause();
  }
  second.part("text");
  await second.write("A second try.");
  await session.acceptInput();
  await pause();
  await session.commit(second);
  await pause();

  await session.nextTurn();
  await speak(session, ["And ", "that ", "is ", "all."], pause);
  await session.appendFacts([
    { type: "run_finished", runId: runId("run_1"), outcome: "completed", closes: 0 },
  ]);
  await pause();
}

async function speak(
  session: DeliverySession,
  words: readonly string[],
  pause: () => Promise<void>,
): Promise<void> {
  const writer = await session.start();
  await pause();
  for (const word of words) {
    await writer.write(word);
    await pause();
  }
  await session.commit(writer);
  await pause();
}

/** Runs three tools in parallel, each in its lane. They end in another order than they began. */
async function useTools(session: DeliverySession, pause: () => Promise<void>): Promise<void> {
  const tools = [
    await session.start({ lane: 1, tool: true }),
    await session.start({ lane: 2, tool: true }),
    await session.start({ lane: 3, tool: true }),
  ];
  await pause();
  for (let round = 0; round < 3; round += 1) {
    for (const tool of tools) {
      await tool.write(`${tool.lane}.${round} `);
      await pause();
    }
  }
  for (const tool of tools.toReversed()) {
    await session.commit(tool);
    await pause();
  }
}
