// The agent on the web. The other files of this folder mount it, each in another kind of application.
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import { identify } from "./identify.ts";

const replies = Array.from({ length: 100 }, () => [say("Pack a raincoat.")]);
const agent = defineAgent({ model: scriptedModel(replies, { delayMs: 5 }) });

// #region create
export const millrace = createMillrace({
  agent, // or one for each session: (session) => agent.with({ instructions: rulesFor(session.user) })
  authenticate: (request) => identify(request), // { tenant, user }, or undefined to answer 401
  basePath: process.env["BASE_PATH"], // for hosts that don't strip the path of their mount, such as Next
});
// #endregion
