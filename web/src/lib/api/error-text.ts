type Reader = (body: unknown) => unknown;

const detail: Reader[] = [
  (body) => read(body, 'detail'),
  (body) => read(read(body, 'detail'), 'msg'),
  (body) => firstMsg(read(body, 'detail')),
];

/** Locations of the message in a response, in order of preference. */
const everywhere: Reader[] = [
  (body) => read(read(body, 'error'), 'message'),
  (body) => read(body, 'error'),
  (body) => read(read(read(body, 'detail'), 'error'), 'message'),
  ...detail,
  (body) => read(body, 'message'),
  (body) => read(body, 'msg'),
  (body) => body,
];

/** Readers that some operations try first. */
const first: Record<string, Reader[]> = {
  'create model': [(body) => read(body, 'msg'), ...detail],
  'deploy model': detail,
  'fetch deployments': detail,
  'terminate deployment': detail,
  'validate parameters': detail,
};

/**
 * Returns the message to show for a failed call. `body` is the parsed response (or its plain text), `error`
 * the thrown value. Order: error.message, error, detail.error.message, detail, message, msg, the error's own
 * message, else 'Failed to {operation}'. If `detail` is a list or object, uses its (first) `msg`. A few
 * operations try other fields first.
 */
export function errorText(body: unknown, error: unknown, operation: string): string {
  const inBody = [...(first[operation] ?? []), ...everywhere].map((reader) => reader(body));
  const candidates = [...inBody, error instanceof Error ? error.message : error];
  return candidates.map(asText).find((text) => text !== null) ?? `Failed to ${operation}`;
}

function firstMsg(list: unknown): unknown {
  return Array.isArray(list) ? read(list[0], 'msg') : undefined;
}

function read(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
