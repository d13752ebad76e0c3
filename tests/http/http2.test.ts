import { memoryBackend, openSuiteTarget } from "./kit/suite-target.ts";
import { runSuite } from "./kit/run-suite.ts";

runSuite("bare Node by HTTP/2, memory", () => openSuiteTarget("http2", memoryBackend()), [
  "servers",
  "outage",
]);
