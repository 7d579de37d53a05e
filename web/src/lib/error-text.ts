/**
 * The sentence to show for a failed call. `body` is the parsed answer (or its plain text),
 * `error` what was thrown. Order: error.message, error, detail.error.message, detail, message,
 * the error's own message, else 'Failed to {operation}'. A `detail` that is a list or an object
 * gives its (first) `msg`.
 */
export function errorText(body: unknown, error: unknown, operation: string): string {
  const detail = read(body, 'detail');
  const candidates = [
    read(read(body, 'error'), 'message'),
    read(body, 'error'),
    read(read(detail, 'error'), 'message'),
    detail,
    read(detail, 'msg'),
    Array.isArray(detail) ? read(detail[0], 'msg') : undefined,
    read(body, 'message'),
    body,
    error instanceof Error ? error.message : error,
  ];
  return candidates.map(asText).find((text) => text !== null) ?? `Failed to ${operation}`;
}

function read(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
