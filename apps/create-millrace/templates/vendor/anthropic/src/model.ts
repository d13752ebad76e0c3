// With ANTHROPIC_API_KEY a model of Anthropic, without it the script.
import type { Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { demo } from "./demo.ts";

const { ANTHROPIC_API_KEY, MODEL = "claude-sonnet-5" } = process.env;

export const model: Model = ANTHROPIC_API_KEY ? anthropic(MODEL) : demo;
