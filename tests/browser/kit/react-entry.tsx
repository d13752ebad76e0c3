// Takes over what the server rendered.
import { hydrateRoot } from "react-dom/client";
import { App, PlainApp, client, renders } from "./react-page.tsx";

Object.assign(globalThis, { client, renders });
const page = location.pathname === "/plain" ? <PlainApp /> : <App />;
hydrateRoot(document.querySelector("#root") ?? document.body, page);
