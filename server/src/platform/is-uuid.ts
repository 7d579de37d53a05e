const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns true for a UUID in PostgreSQL's format; other text as an id can fail a query. */
export function isUuid(text: string): boolean {
  return pattern.test(text);
}
