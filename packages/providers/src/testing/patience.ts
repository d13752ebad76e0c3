export * from "../../../core/src/testing/patience.ts";
