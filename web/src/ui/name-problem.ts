/** What is wrong with a name, in the server's words. A field that cut it off instead would lose its end unnoticed. */
export function nameProblem(name: string, lengthMax: number): string | undefined {
  const { length } = name.trim();
  if (length === 0) return 'Name is required';
  return length > lengthMax ? `Name must have at most ${lengthMax} characters` : undefined;
}
