// With GEMINI_API_KEY a model of Google, without it the script.
import type { Model } from "@millrace/core";
import { gemini } from "@millrace/providers/gemini";
import { findModel } from "@millrace/providers/models";
import { demo } from "./demo.ts";

const { GEMINI_API_KEY, MODEL = "gemini-3.5-flash" } = process.env;

// What it costs, so that limits on spend hold. Of a model that the table does not have yet, put its price here.
const price = findModel("gemini", MODEL)?.price;

export const model: Model = GEMINI_API_KEY ? gemini(MODEL, price && { price }) : demo;
