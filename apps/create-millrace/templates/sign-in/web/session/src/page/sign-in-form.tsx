import { useState } from "react";

/** Takes a name and a password; the server answers with a cookie. */
export function SignInForm() {
  const [problem, setProblem] = useState("");
  const submit = async (form: FormData) => {
    const body = new URLSearchParams();
    for (const [name, value] of form) if (typeof value === "string") body.set(name, value);
    const response = await fetch("/sign-in", { method: "POST", body }).catch(() => undefined);
    if (response?.ok) location.reload();
    else setProblem(response === undefined ? "The server is away." : "Wrong name or password.");
  };
  return (
    <form action={submit}>
      <label>
        Name <input name="user" autoComplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      {problem && <p role="alert">{problem}</p>}
      <button className="go">Sign in</button>
    </form>
  );
}
