import { ok as assert } from "node:assert";
import vm from "node:vm";

/** A bundle that was loaded where workflows run. */
export interface Sandbox {
  /** Calls an exported function of the bundled entry with a text, and returns the text it returns. */
  readonly call: (name: string, text: string) => string;
  /** Evaluates an expression beside the bundle. */
  readonly evaluate: (expression: string) => unknown;
}

/** No call takes longer, or it is ended with an error. */
const timeout = 10_000;

/**
 * Loads a bundle into a context of its own that has what a Temporal worker gives to workflows: the
 * language, these few classes, and nothing of Node. The bundle begins with the SDK's own code, which
 * replaces `Date`, `Math.random` and timers by ones that throw while no workflow is being activated.
 */
export function openSandbox(code: string): Sandbox {
  const globals = { URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, assert };
  const context = vm.createContext(
    { ...globals, __webpack_module_cache__: {} },
    { microtaskMode: "afterEvaluate", codeGeneration: { strings: false, wasm: false } },
  );
  const evaluate = (expression: string): unknown =>
    vm.runInContext(expression, context, { timeout });
  vm.runInContext(code, context, { filename: "workflow-bundle.js", timeout });
  evaluate("var entry = __TEMPORAL__.importWorkflows()");
  return {
    call: (name, text) => {
      context["text"] = text;
      return String(evaluate(`entry.${name}(text)`));
    },
    evaluate,
  };
}
