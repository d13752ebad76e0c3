// A LangGraph graph, as it is. The chat model is LangChain's own for tests: put yours in its place.
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { defineAgent, narrateTo } from "@millrace/agent";
import { fromLangGraph } from "@millrace/bridges/langgraph";
import { fileStore } from "@millrace/stores/file";

const model = new FakeListChatModel({ responses: ["It is 4 °C: take a coat."] });
const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => ({ messages: await model.invoke(messages) }))
  .addEdge("__start__", "answer")
  .compile();

const support = defineAgent({
  respond(run) {
    const messages = run.transcript.flatMap(({ author, parts }) =>
      parts.flatMap((part) =>
        part.kind === "text"
          ? [{ role: author === "user" ? "user" : "ai", content: part.text }]
          : [],
      ),
    );
    return fromLangGraph(graph.streamEvents({ messages }, { version: "v2", signal: run.signal }));
  },
  observers: [narrateTo(process.stdout)],
});

await using session = await support.open({ id: "langgraph", store: fileStore("./sessions") });
const result = await session.send(process.argv[2] ?? "What do I wear in Oslo?").result;
if (result.outcome === "failed") console.error(result.error.message);
