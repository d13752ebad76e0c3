// The agent on the web. The other files of this folder mount it, each in another kind of application.
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import { identify } from "./identify.ts";

const replies = Array.from({ length: 100 }, () => [say("Pack a raincoat.")]);
const agent = defineAgent({ model: scriptedModel(replies, { delayMs: 5 }) });

// #region create
export const millrace = createMillrace({
  agent, // or, for each user their own: (session) => agent.with({ instructions: rulesFor(session.user) })
  authenticate: (request) => identify(request), // { tenant, user } or nothing; nothing means no
  basePath: process.env["BASE_PATH"], // where the host does not strip its mount: Next
});
// #endregion
