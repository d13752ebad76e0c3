import type { ReactNode } from "react";
import { config } from "./client.ts";
import { ideas, modelField } from "../shared.ts";

interface HelloProps {
  readonly model: string | undefined;
  readonly onModel: (id: string) => void;
  readonly onPick: (prompt: string) => void;
}

/** An empty session: what it can show, and which model is to answer. */
export function Hello({ model, onModel, onPick }: HelloProps): ReactNode {
  return (
    <div className="hello">
      <h2>What shall we look into?</h2>
      <p>Refresh, open a second tab or close this one at any time: the run goes on.</p>
      <div className="ideas">
        {Object.values(ideas).map(({ title, shows, prompt }) => (
          <button key={title} onClick={() => onPick(prompt)}>
            <strong>{title}</strong>
            <span>{shows}</span>
          </button>
        ))}
      </div>
      {config.models.length > 1 && (
        <label>
          Model{" "}
          <select name={modelField} value={model} onChange={({ target }) => onModel(target.value)}>
            {config.models.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
