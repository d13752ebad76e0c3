import { createContext } from "react";
import type { Context } from "react";
import type { ClientSession } from "@millrace/client";

/** The session whose items are shown: the same object for all of its views, so that parts stay memoised. */
export const SessionContext: Context<ClientSession | undefined> = createContext<
  ClientSession | undefined
>(undefined);
