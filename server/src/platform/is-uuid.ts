const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID as this server and PostgreSQL write it. As an id in a query any other text can be an error. */
export function isUuid(text: string): boolean {
  return pattern.test(text);
}
