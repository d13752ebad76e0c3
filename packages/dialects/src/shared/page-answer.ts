import type { Json } from "@millrace/core";

/** What a page's message says of a call: a person's decision, or what a tool of the page came to. */
export type PageAnswer =
  | {
      readonly kind: "decision";
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason: string | undefined;
    }
  | {
      readonly kind: "output";
      readonly toolCallId: string;
      readonly answer: { readonly output: Json } | { readonly error: string };
    };
