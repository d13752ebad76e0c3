/**
 * How many names each public entry may export, types included. The two entries that users meet first are
 * held at 60: a longer list is not read. The others are held near what they have, so that a new name is a
 * decision that shows in review.
 */
export const entryLimits: Readonly<Record<string, number>> = {
  "@millrace/agent": 60,
  "@millrace/agent/engine": 18,
  "@millrace/agent/json-schema": 5,
  "@millrace/agent/loop": 50,
  "@millrace/agent/mcp": 10,
  "@millrace/agent/opentelemetry": 5,
  "@millrace/agent/process": 10,
  "@millrace/agent/terminal": 10,
  "@millrace/agent/worker": 10,
  "@millrace/client": 30,
  "@millrace/client/react": 5,
  "@millrace/conformance": 28,
  "@millrace/conformance/http": 25,
  "@millrace/core": 60,
  "@millrace/core/checks": 25,
  "@millrace/core/memory": 13,
  "@millrace/core/ports": 151,
  "@millrace/core/reading": 66,
  "@millrace/core/schema": 10,
  "@millrace/core/secrets": 12,
  "@millrace/core/testing": 20,
  "@millrace/core/wire": 37,
  "@millrace/core/writing": 63,
  "@millrace/providers": 46,
  "@millrace/providers/ai-sdk": 20,
  "@millrace/providers/anthropic": 5,
  "@millrace/providers/gemini": 5,
  "@millrace/providers/langgraph": 5,
  "@millrace/providers/openai": 8,
  "@millrace/providers/openai-agents": 10,
  "@millrace/providers/testing": 30,
  "@millrace/server": 32,
  "@millrace/server/hub": 27,
  "@millrace/stores/file": 15,
  "@millrace/stores/postgres": 12,
  "@millrace/stores/redis": 6,
  "@millrace/temporal/client": 6,
  "@millrace/temporal/plugin": 6,
  "@millrace/temporal/plugin-workflow": 3,
  "@millrace/temporal/worker": 10,
  "@millrace/temporal/workflow": 15,
};

/** Names that two entries share on purpose: a program imports one of the two, and reads the same. */
export const sharedNames: readonly string[] = ["createWorker"];
