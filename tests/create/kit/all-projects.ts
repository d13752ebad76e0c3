import { questions } from "../../../apps/create-millrace/src/choices.ts";
import type { Answers } from "../../../apps/create-millrace/src/choices.ts";
import { makeProject } from "../../../apps/create-millrace/src/project.ts";
import type { Project } from "../../../apps/create-millrace/src/project.ts";

export interface NamedProject {
  readonly name: string;
  readonly answers: Answers;
  readonly files: Project;
}

/** A project for each combination of answers. */
export function allProjects(): readonly NamedProject[] {
  return questions.template.choices.flatMap(({ name: template }) =>
    questions.vendor.choices.flatMap(({ name: vendor }) =>
      questions.run.choices.flatMap(({ name: run }) =>
        questions["sign-in"].choices.map(({ name: signIn }) => {
          const answers = { template, vendor, run, "sign-in": signIn };
          const name = `${template}-${vendor}-${run}-${signIn}`;
          return { name, answers, files: makeProject(name, answers) };
        }),
      ),
    ),
  );
}
