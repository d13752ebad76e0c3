// With GEMINI_API_KEY a model of Google, without it the script.
import type { Model } from "@millrace/core";
import { gemini } from "@millrace/providers/gemini";
import { demo } from "./demo.ts";

const { GEMINI_API_KEY, MODEL = "gemini-3.5-flash" } = process.env;

export const model: Model = GEMINI_API_KEY ? gemini(MODEL) : demo;
