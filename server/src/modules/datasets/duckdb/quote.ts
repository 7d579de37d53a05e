/** A text as SQL writes it. */
export function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** A name as SQL writes it, whatever is in it. */
export function name(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

export function list(items: readonly string[]): string {
  return `[${items.join(', ')}]`;
}
