import type { RouteWork } from "../http/route-context.ts";
import type { RouteName } from "../http/route.ts";
import { abortRun, postInput, takeBackInput } from "./post-input.ts";
import { answerCall, decideApproval, listApprovals } from "./approvals.ts";
import { readBlob, uploadBlob } from "./blobs.ts";
import { createSession } from "./create-session.ts";
import { exportSession } from "./export-session.ts";
import { forkSession } from "./fork-session.ts";
import { getRun } from "./wait-for-run.ts";
import { getSnapshot, watchSession } from "./session-stream.ts";
import { listItems } from "./items.ts";
import { removeSession, getSession, listSessions, updateSession } from "./sessions.ts";
import { watchSessions } from "./watch-sessions.ts";

/** The function of each route, by the route's name. The server's own routes are not among them. */
export const works: Readonly<Partial<Record<RouteName, RouteWork>>> = {
  createSession,
  listSessions,
  getSession,
  updateSession,
  removeSession,
  postInput,
  takeBackInput,
  abortRun,
  getRun,
  listApprovals,
  decideApproval,
  answerCall,
  watchSession,
  watchSessions,
  getSnapshot,
  listItems,
  uploadBlob,
  readBlob,
  forkSession,
  exportSession,
};
