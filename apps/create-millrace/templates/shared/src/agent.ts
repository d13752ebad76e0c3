// The agent: a model, what it is for, and what it may do.
import { defineAgent } from "@millrace/agent";
import { model } from "./model.ts";
import { refund } from "./refund.ts";

const instructions = `You answer the customers of a lamp shop. Be brief and kind.
Lamps that arrive broken are refunded in full. Order A-1042 was 89.00 €.`;

export const agent = defineAgent({ name: "shop", model, instructions, tools: [refund] });
