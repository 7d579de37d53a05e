/** Returns the problem of a missing or incomplete address. The server checks the rest. */
export function emailProblem(email: string): string | undefined {
  if (!email.trim()) return 'Enter your email address';
  return /^\S+@\S+$/.test(email.trim())
    ? undefined
    : 'Enter a complete email address, such as ada@example.com';
}
