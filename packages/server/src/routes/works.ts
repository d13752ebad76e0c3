import type { RouteWork } from "../http/route-context.ts";
import type { RouteName } from "../http/route.ts";
import { abortRun, postInput, takeBackInput } from "./post-input.ts";
import { readMessages as readAgUiMessages } from "./ag-ui/come-back.ts";
import { runAgent } from "./ag-ui/run.ts";
import { profiles } from "../dialects/ai-sdk/profiles.ts";
import { readMessages, resumeStream } from "./ai-sdk/read.ts";
import { sendMessages } from "./ai-sdk/send.ts";
import { answerCall, decideApproval, listApprovals } from "./approvals.ts";
import { readBlob, uploadBlob } from "./blobs.ts";
import { createSession } from "./create-session.ts";
import { exportSession } from "./export-session.ts";
import { forkSession } from "./fork-session.ts";
import { getRun } from "./wait-for-run.ts";
import { getSnapshot, watchSession } from "./session-stream.ts";
import { listItems } from "./items.ts";
import { complete } from "./openai/complete.ts";
import { createResponse } from "./openai/create-response.ts";
import { cancelResponse, getResponse, listInputItems, listModels } from "./openai/read-response.ts";
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
  agUiRun: runAgent,
  agUiMessages: readAgUiMessages,
  aiSdkSend: sendMessages(profiles[7]),
  aiSdkMessages: readMessages(profiles[7]),
  aiSdkResume: resumeStream(profiles[7]),
  aiSdkSendV6: sendMessages(profiles[6]),
  aiSdkMessagesV6: readMessages(profiles[6]),
  aiSdkResumeV6: resumeStream(profiles[6]),
  aiSdkSendV5: sendMessages(profiles[5]),
  aiSdkMessagesV5: readMessages(profiles[5]),
  aiSdkResumeV5: resumeStream(profiles[5]),
  openaiRespond: createResponse,
  openaiGetResponse: getResponse,
  openaiCancelResponse: cancelResponse,
  openaiInputItems: listInputItems,
  openaiComplete: complete,
  openaiModels: listModels,
};
