/** Returns the text as an SQL string literal. */
export function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns the name as a quoted SQL identifier. */
export function name(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

export function list(items: readonly string[]): string {
  return `[${items.join(', ')}]`;
}
