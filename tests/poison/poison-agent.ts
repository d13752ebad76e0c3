import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Limits } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";
import { textOfItem } from "../kit/deployment/paced-agent.ts";

/** What ends the process of an agent, and where that is counted. */
export interface Poison {
  /** A file with a line for each request to the model, and for each call of the tool. */
  readonly hits: string;
  readonly kills: "reply" | "tool";
  readonly limits?: Limits | undefined;
}

/** A prompt that ends no process. */
export const harmless = "and now without harm";

/**
 * An agent that kills its process in each run: in the middle of its reply, or in a tool that may run again.
 * As a reply or a tool that takes all memory.
 */
export function poisonAgent({ hits, kills, limits }: Poison): Agent {
  const die = (what: string): void => {
    appendFileSync(hits, `${what}\n`);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 60);
  };
  const model: Model = {
    id: "poison",
    stream: (request) => {
      const last = request.transcript.findLast(({ author }) => author === "user");
      if (textOfItem(last) === harmless) return scriptedModel([[say("well")]]).stream(request);
      if (kills === "tool") {
        appendFileSync(hits, "reply\n");
        return scriptedModel([[call("burn", {})]]).stream(request);
      }
      die("reply");
      return scriptedModel([[say("x".repeat(2_000))]], { delayMs: 1 }).stream(request);
    },
  };
  const burn = defineTool({
    name: "burn",
    input: z.object({}),
    effect: "pure",
    run: async () => {
      die("tool");
      await sleep(10_000);
      return "not reached";
    },
  });
  const retry = { attempts: 2, baseMs: 1, capMs: 5 };
  return defineAgent({ model, tools: [burn], retry, ...(limits === undefined ? {} : { limits }) });
}

/** How often the model was asked, and the tool called. */
export function countHits(file: string): { readonly reply: number; readonly tool: number } {
  const lines = readFileSync(file, "utf8").split("\n");
  const count = (what: string): number => lines.filter((line) => line === what).length;
  return { reply: count("reply"), tool: count("tool") };
}
