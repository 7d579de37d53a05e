const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns true for a UUID in PostgreSQL's format. A query fails if its id has another format. */
export function isUuid(text: string): boolean {
  return pattern.test(text);
}
