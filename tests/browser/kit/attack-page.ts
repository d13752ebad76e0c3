import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What an attack is aimed at: an address of the attacked server, with what it would take. */
export interface Target {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** What came of one attack on one target. `read`: what the page could read of the answer. */
export interface Attacked {
  readonly attack: string;
  readonly target: string;
  readonly read?: string | undefined;
}

/**
 * A page that tries all that a browser lets the page of another origin do, and notes what it can read.
 * `attackAll(targets)` resolves when every attack on every target is over.
 */
export const attackPage = `<!doctype html><title>prizes</title><body><script>
  const within = (ms, promise) => Promise.race([promise, new Promise((end) => setTimeout(end, ms))]);
  const read = async (response) =>
    response.type === "opaque" ? undefined : response.status + " " + (await response.text());
  const asks = (init) => ({ url, method, body }) => {
    const made = init({ method, body });
    return fetch(url, { credentials: "include", ...made, ...(made.method === "GET" && { body: undefined }) }).then(read);
  };
  const simple = (method) => (method === "GET" ? "GET" : "POST");
  const key = "0123456789abcdef-attack";
  const json = { "content-type": "application/json", "idempotency-key": key };
  const loads = (tag, address) => ({ url }) => new Promise((end) => {
    const element = document.createElement(tag);
    element.onload = () => end(tag === "iframe" ? textIn(element) : tag + " was loaded");
    element.onerror = () => end(undefined);
    if (tag === "link") element.rel = "stylesheet";
    element[address] = url;
    document.body.append(element);
  });
  const textIn = (frame) => { try { return frame.contentDocument?.body.innerText; } catch { return undefined; } };
  let forms = 0;
  const submits = (enctype) => ({ url, body }) => new Promise((end) => {
    const frame = document.createElement("iframe");
    frame.name = "frame" + (forms += 1);
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: url, enctype, target: frame.name });
    const field = document.createElement("input");
    field.name = body.slice(0, -1) + ',"x":"'; // as text it is JSON
    field.value = '"}';
    form.append(field);
    document.body.append(form);
    frame.onload = () => end(textIn(frame));
    form.submit();
  });
  const onAll = {
    "a fetch without CORS": asks(({ method, body }) => ({ method: simple(method), mode: "no-cors", body })),
    "a fetch with credentials": asks(({ method, body }) => ({ method, headers: json, body })),
    "a fetch with credentials and nothing to ask first": asks(({ method, body }) => ({ method: simple(method), body })),
    "a fetch with a form": asks(({ method, body }) => ({ method: simple(method), body: new URLSearchParams({ body }) })),
    "a fetch with a token": asks(({ method, body }) => ({ method, body, headers: { ...json, authorization: "Bearer guessed" } })),
  };
  const onReads = {
    "an EventSource with credentials": ({ url }) => new Promise((end) => {
      const source = new EventSource(url, { withCredentials: true });
      source.onmessage = ({ data }) => end(data);
      source.onerror = () => { source.close(); end(undefined); };
    }),
    // Chromium delays those that follow on one that failed.
    "a WebSocket": ({ url }) => within(1000, new Promise((end) => {
      const socket = new WebSocket(url.replace("http", "ws"));
      socket.onopen = () => end("a WebSocket was opened");
      socket.onerror = () => end(undefined);
    })),
    "an iframe": loads("iframe", "src"),
    "an image": loads("img", "src"),
    "a script": loads("script", "src"),
    "a stylesheet": loads("link", "href"),
  };
  const onWrites = {
    "a request in the background": ({ url, body }) => { navigator.sendBeacon(url, body); return undefined; },
    "a form as text": submits("text/plain"),
    "a form": submits("application/x-www-form-urlencoded"),
    "a form with files": submits("multipart/form-data"),
  };
  window.attackAll = (targets) => Promise.all(
    targets.flatMap((target) => {
      const attacks = { ...onAll, ...(target.method === "GET" ? onReads : onWrites) };
      return Object.entries(attacks).map(async ([attack, on]) => {
        const read = await within(5000, Promise.resolve(on(target)).catch(() => undefined));
        return { attack, target: target.method + " " + target.url, read: read || undefined };
      });
    }),
  );
</script>`;

/** The site of the attacker, on a port of its own. `/sandboxed` is the same page with the origin \`null\`. */
export async function openAttackSite(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html");
    if (request.url === "/sandboxed")
      response.setHeader("content-security-policy", "sandbox allow-scripts allow-forms");
    response.end(attackPage);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
