import { defineAgent, defineTool, narrateTo } from "@millrace/agent";
import { call, callRaw, say, scriptedModel, stall } from "@millrace/core/testing";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { createServer } from "node:http";
import { createHub, sseSink } from "@millrace/server";
const store = memorySessionStore();
const log = memoryEventLog();
createHub({ store });
