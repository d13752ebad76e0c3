import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { SignInForm } from "./sign-in-form.tsx";

/** The token that a person gave in this tab. Without one the browser's cookie signs in. */
export function savedToken(): string | undefined {
  return sessionStorage.getItem("token") ?? undefined;
}

/** Shows the page to those whom the server knows, and else how to sign in. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const [status, setStatus] = useState<number>();
  useEffect(() => {
    const token = savedToken();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const asked = fetch("/agent/v1/sessions?limit=1", { headers });
    // Offline the page is there all the same, and says so.
    void asked.then((response) => setStatus(response.status)).catch(() => setStatus(0));
  }, []);
  if (status === undefined) return null;
  if (status !== 401) return children;
  return (
    <main className="sign-in">
      <h1>millrace-app</h1>
      <SignInForm />
    </main>
  );
}
