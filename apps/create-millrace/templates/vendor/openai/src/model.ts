// With OPENAI_API_KEY a model of OpenAI, without it the script.
import type { Model } from "@millrace/core";
import { openai } from "@millrace/providers/openai";
import { demo } from "./demo.ts";

const { OPENAI_API_KEY, MODEL = "gpt-5.4" } = process.env;

export const model: Model = OPENAI_API_KEY ? openai(MODEL) : demo;
