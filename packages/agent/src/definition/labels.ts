/**
 * What a tool can do that is dangerous together with the other two. `reads_private`: its results hold data
 * that not everyone may see. `sees_untrusted`: its results hold text of strangers, such as a web page or an
 * e-mail. `acts_outside`: its input or its effect reaches others. With all three, a stranger's text can have
 * private data sent away.
 */
export type ToolLabel = "reads_private" | "sees_untrusted" | "acts_outside";

/** All labels. A session that has them all asks before each further call of a tool with one. */
export const toolLabels: readonly ToolLabel[] = ["reads_private", "sees_untrusted", "acts_outside"];
