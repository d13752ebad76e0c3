export { agUi } from "./ag-ui/ag-ui-routes.ts";
