// No vendor yet: a script plays the model. To add one, see "A real model" in README.md.
export { demo as model } from "./demo.ts";
