/** Returns the number of pictures requested; 1 without such a field or a valid number. */
export function requestedPictureCount({ n }: Readonly<Record<string, unknown>>): number {
  return Number.isInteger(n) ? Number(n) : 1;
}
