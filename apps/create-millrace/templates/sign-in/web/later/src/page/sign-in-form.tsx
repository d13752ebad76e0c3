/** Shown to a browser that sent no cookie. */
export function SignInForm() {
  return <p role="alert">Load the page again, with cookies allowed.</p>;
}
