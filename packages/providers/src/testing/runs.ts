export { runs } from "../../../core/src/testing/runs.ts";
