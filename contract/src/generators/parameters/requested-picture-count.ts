/** Returns the requested number of pictures; 1 if there is no such field, or no valid number. */
export function requestedPictureCount({ n }: Readonly<Record<string, unknown>>): number {
  return Number.isInteger(n) ? Number(n) : 1;
}
