import { memoryBackend, openSuiteTarget } from "./kit/suite-target.ts";
import { runSuite } from "./kit/run-suite.ts";

runSuite("bare Node, memory", () => openSuiteTarget("node", memoryBackend()));
