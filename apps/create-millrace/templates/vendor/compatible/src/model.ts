// With MODEL_URL a server that speaks chat completions (Ollama, vLLM, OpenRouter, …), without it the script.
import type { Model } from "@millrace/core";
import { openaiCompatible } from "@millrace/providers/openai";
import { demo } from "./demo.ts";

const { MODEL_URL, MODEL_KEY, MODEL = "qwen3:8b" } = process.env;

export const model: Model = MODEL_URL
  ? openaiCompatible(MODEL, { baseUrl: MODEL_URL, apiKey: MODEL_KEY || undefined })
  : demo;
