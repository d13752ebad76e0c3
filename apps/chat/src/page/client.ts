// The one client of the page, and the settings that the server sends.
import { createClient, seenMarks } from "@millrace/client";
import type { Client, SeenMarks } from "@millrace/client";
import type { ChatConfig } from "../shared.ts";

export const client: Client = createClient({ url: "/agent" });

export type Session = ReturnType<typeof client.session>;
export type Item = Session["items"][number];
export type Part = Item["parts"][number];

export const seen: SeenMarks = seenMarks();

export const config: ChatConfig = (await (await fetch("/config.json")).json()) as ChatConfig; // of our server
