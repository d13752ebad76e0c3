// Schemas of tools and answers, by the interface that schema libraries share: what a model is sent of one, and
// what is wrong with a value by it.
export { answerSchemaOf, describeIssues, jsonSchemaOf, parseAnswer } from "./content/schema.ts";
export type {
  Checked,
  Issue,
  OutputFor,
  Schema,
  SchemaInput,
  SchemaOutput,
} from "./content/schema.ts";
