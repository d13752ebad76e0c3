import type { HttpStoreState } from "@millrace/conformance/http";
import type { SessionStore } from "@millrace/core/ports";

/** A store that can be taken away, as an engine behind a cut connection. `state` is asked at each call. */
export function faultStore<S extends SessionStore>(
  store: S,
  state: () => Exclude<HttpStoreState, number>,
): S {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === Symbol.asyncDispose) return value;
      const method = value as (...given: unknown[]) => unknown;
      if (name === "now") return method.bind(target); // the store's clock is read in this process
      return (...given: unknown[]): unknown => {
        const now = state();
        if (now === "there") return method.apply(target, given);
        if (now === "lossy" && name !== "create") return method.apply(target, given);
        if (now === "away") return Promise.reject(new Error("the store is away"));
        return Promise.resolve(method.apply(target, given)).then(() => {
          throw new Error("the connection was cut after the commit");
        });
      };
    },
  });
}
