import type { RunResult, Sent, Session } from "@millrace/agent";
import type { ClientConnection } from "@millrace/client";
import type { Item, View } from "@millrace/core";

/** A run as far as a chat needs it. */
export interface ChatRun {
  /** Never rejects. */
  readonly result: Promise<RunResult>;
  readonly abort: (reason?: string) => Sent;
}

/** How a chat is connected with its session: with a store here, or with a server. */
export type ChatConnection = Session["connection"] | ClientConnection;

/** What a chat needs of its session, in a file of this machine or at a server. */
export interface ChatSession extends Pick<View, "status" | "stopping" | "queue" | "usage"> {
  readonly id: string;
  readonly connection: ChatConnection;
  readonly approvals: readonly unknown[]; // ViewApproval, whatever the types of the tools
  readonly run: ChatRun | undefined;
  /** The items that are known here. */
  readonly transcript: readonly unknown[]; // Item
  readonly send: (text: string, options?: { readonly signal?: AbortSignal | undefined }) => ChatRun;
  readonly steer: (text: string) => Sent;
  readonly followUp: (text: string) => Sent;
  readonly takeBack: (inputId: string) => Sent;
  readonly allow: (approvalId: string, shown: { readonly hash: string }) => Sent;
  readonly deny: (approvalId: string, reason?: string) => Sent;
  readonly abort: (reason?: string) => Sent;
  readonly fork: (itemId: string) => Promise<ChatSession>;
  readonly close: () => Promise<void>;
}

/** The end of a session, from before it is shown here. */
export interface Past {
  readonly items: readonly Item[];
  /** How many more there are before them. */
  readonly earlier: number;
}
