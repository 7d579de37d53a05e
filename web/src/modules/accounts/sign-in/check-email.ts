/** Returns the problem of an invalid address; undefined if only the server can tell. */
export function emailProblem(email: string): string | undefined {
  if (!email.trim()) return 'Enter your email address';
  return /^\S+@\S+$/.test(email.trim())
    ? undefined
    : 'Enter a complete email address, such as ada@example.com';
}
