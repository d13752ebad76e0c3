import { anthropic } from "@millrace/providers/anthropic";
import { openai } from "@millrace/providers/openai";

// #region proxy
// HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read by themselves. Or by option:
export const behindProxy = anthropic("claude-sonnet-5", {
  network: {
    proxy: "http://user:password@proxy.corp.example:3128",
    noProxy: "localhost,.internal",
  },
});
// #endregion

// #region certificates
export function privateGateway(pem: { ca: string; cert: string; key: string }) {
  return openai("gpt-5.4", {
    baseUrl: "https://llm.corp.example/v1",
    network: {
      ca: pem.ca, // trusted beside the usual authorities
      cert: pem.cert, // this client's own certificate, for servers that ask for one
      key: pem.key,
      http2: true, // where the server offers it
    },
  });
}
// #endregion
