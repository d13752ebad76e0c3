import { engineBackend } from "./kit/engine-backend.ts";
import { runSuite } from "./kit/run-suite.ts";
import { openSuiteTarget } from "./kit/suite-target.ts";

runSuite("bare Node, PostgreSQL and Redis", async () =>
  openSuiteTarget("node", await engineBackend()),
);
