import { runId } from "@millrace/core/writing";
import type { Stage } from "./delivery-stage.ts";

/** How many items the conversation leaves. */
export const conversationItems = 6;

/**
 * A conversation with something of everything: inputs, turns, tools side by side, reasoning, a
 * second attempt that replaces the first. After each step `pause` lets viewers look.
 */
export async function converse(stage: Stage, pause: () => Promise<void>): Promise<void> {
  await pause();
  await stage.say();
  await pause();
  await speak(stage, ["I ", "will ", "look ", "that ", "up 🔎."], pause);
  await useTools(stage, pause);
  await stage.turn();
  await pause();

  const first = await stage.start();
  await pause();
  await first.write("A first try that is ");
  await pause();
  const second = await stage.start({ again: first });
  await pause();
  second.part("reasoning");
  for (const word of ["Hm, ", "no. "]) {
    await second.write(word);
    await pause();
  }
  second.part("text");
  await second.write("A second try.");
  await stage.say();
  await pause();
  await stage.commit(second);
  await pause();

  await stage.turn();
  await speak(stage, ["And ", "that ", "is ", "all."], pause);
  await stage.decide([
    { type: "run_finished", runId: runId("run_1"), outcome: "completed", closes: 0 },
  ]);
  await pause();
}

async function speak(
  stage: Stage,
  words: readonly string[],
  pause: () => Promise<void>,
): Promise<void> {
  const hand = await stage.start();
  await pause();
  for (const word of words) {
    await hand.write(word);
    await pause();
  }
  await stage.commit(hand);
  await pause();
}

/** Three tools at once, each in its lane, which end in another order than they began. */
async function useTools(stage: Stage, pause: () => Promise<void>): Promise<void> {
  const tools = [
    await stage.start({ lane: 1, tool: true }),
    await stage.start({ lane: 2, tool: true }),
    await stage.start({ lane: 3, tool: true }),
  ];
  await pause();
  for (let round = 0; round < 3; round += 1) {
    for (const tool of tools) {
      await tool.write(`${tool.lane}.${round} `);
      await pause();
    }
  }
  for (const tool of tools.toReversed()) {
    await stage.commit(tool);
    await pause();
  }
}
