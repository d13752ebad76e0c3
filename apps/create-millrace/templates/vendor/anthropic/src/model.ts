// With ANTHROPIC_API_KEY a model of Anthropic, without it the script.
import type { Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { findModel } from "@millrace/providers/models";
import { demo } from "./demo.ts";

const { ANTHROPIC_API_KEY, MODEL = "claude-sonnet-5" } = process.env;

// What it costs, so that limits on spend hold. Of a model that the table does not have yet, put its price here.
const price = findModel("anthropic", MODEL)?.price;

export const model: Model = ANTHROPIC_API_KEY ? anthropic(MODEL, price && { price }) : demo;
