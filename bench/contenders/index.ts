import { bare, bareDispatch, floorDispatch, floorFetch } from "./bare.ts";
import type { Contender } from "./contender.ts";
import { millrace, millraceFetch } from "./millrace.ts";
import { aiSdk, anthropicStream, openaiAgents, openaiStream, piAi } from "./peers.ts";

export const contenders: Readonly<Record<string, Contender>> = {
  "floor: dispatch": floorDispatch,
  "floor: fetch": floorFetch,
  bare,
  "bare over dispatch": bareDispatch,
  millrace,
  "millrace over fetch": millraceFetch,
  "openai .stream()": openaiStream,
  "@anthropic-ai/sdk .stream()": anthropicStream,
  "pi-ai": piAi,
  "@openai/agents": openaiAgents,
  "ai fullStream": aiSdk,
};
