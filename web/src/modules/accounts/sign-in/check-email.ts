/** What is wrong with an address that cannot be one; undefined where only the server can tell. */
export function refuseEmail(email: string): string | undefined {
  if (!email.trim()) return 'Enter your email address';
  return /^\S+@\S+$/.test(email.trim())
    ? undefined
    : 'Enter a complete email address, such as ada@example.com';
}
