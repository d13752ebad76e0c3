// With OPENAI_API_KEY a model of OpenAI, without it the script.
import type { Model } from "@millrace/core";
import { openai } from "@millrace/providers/openai";
import { findModel } from "@millrace/providers/models";
import { demo } from "./demo.ts";

const { OPENAI_API_KEY, MODEL = "gpt-5.4" } = process.env;

// What it costs, so that limits on spend hold. Of a model that the table does not have yet, put its price here.
const price = findModel("openai", MODEL)?.price;

export const model: Model = OPENAI_API_KEY ? openai(MODEL, price && { price }) : demo;
