import { memoryBackend, openSuiteTarget } from "./kit/suite-target.ts";
import { runSuite } from "./kit/run-suite.ts";

for (const mount of ["hono", "next", "express", "fastify"] as const)
  runSuite(`${mount}, memory`, () => openSuiteTarget(mount, memoryBackend()));
