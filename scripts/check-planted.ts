/**
 * Names the planted defects whose code or test is no longer found. It does not fail for them: code may
 * change, and `npm run planted` fails until the defect is written anew.
 */
import { Places, readDefects } from "./planted-defects.ts";

const places = new Places();
const defects = [...readDefects("defects"), ...readDefects("lines")];
const lost = defects.flatMap((defect) =>
  [places.edits(defect), places.tests(defect)].flatMap((found) =>
    typeof found === "string" ? [`${defect.name} no longer applies: ${found}`] : [],
  ),
);
for (const line of new Set(lost)) console.log(line);
console.log(`${lost.length} of ${defects.length} planted defects no longer apply`);
