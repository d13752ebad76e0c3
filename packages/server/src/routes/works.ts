import type { RouteWork } from "../http/route-context.ts";
import type { RouteName } from "../http/route.ts";
import { abortRun } from "./abort-run.ts";
import { answerCall } from "./answer-call.ts";
import { decideApproval, listApprovals } from "./approvals.ts";
import { readBlob, uploadBlob } from "./blobs.ts";
import { createSession } from "./create-session.ts";
import { exportSession } from "./export-session.ts";
import { forkSession } from "./fork-session.ts";
import { getRun } from "./get-run.ts";
import { getSnapshot } from "./get-snapshot.ts";
import { listItems } from "./items.ts";
import { postInput, takeBackInput } from "./post-input.ts";
import { removeSession } from "./remove-session.ts";
import { getSession, listSessions, updateSession } from "./sessions.ts";
import { watchSession } from "./watch-session.ts";
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
