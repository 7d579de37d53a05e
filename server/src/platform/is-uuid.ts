const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns true for a UUID in the format of this server and PostgreSQL. In a query, any other text as an id
 * can be an error.
 */
export function isUuid(text: string): boolean {
  return pattern.test(text);
}
