/**
 * Returns false for text that PostgreSQL cannot store: NUL in text or jsonb, or a lone surrogate in jsonb.
 * JavaScript and JSON allow both ("\u0000", "\ud800").
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns the text without NULs, and with U+FFFD for each lone surrogate. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Returns a JSON value without such texts, also in field names. */
export function storableJson<T>(value: T): T;
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map((item: unknown) => storableJson(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [storableText(name), storableJson<unknown>(item)]),
  );
}

type Place = { value: object; within: Place | null; name: string | number };

/**
 * Returns the path of the first text in a JSON value that PostgreSQL cannot store, such as `['messages', 0,
 * 'content']`; otherwise null. Not recursive, because the sender controls the depth.
 */
export function findUnstorable(root: unknown): (string | number)[] | null {
  if (typeof root !== 'object' || root === null) return null;
  const waiting: Place[] = [{ value: root, within: null, name: '' }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    for (const [name, value] of entriesOf(place.value)) {
      if (typeof name === 'string' && !isStorable(name)) return [...pathTo(place), storableText(name)];
      if (typeof value === 'string' && !isStorable(value)) return [...pathTo(place), name];
      if (typeof value === 'object' && value !== null) waiting.push({ value, within: place, name });
    }
  }
  return null;
}

function entriesOf(value: object): Iterable<[string | number, unknown]> {
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}

function pathTo(place: Place): (string | number)[] {
  const names: (string | number)[] = [];
  for (let at = place; at.within !== null; at = at.within) names.push(at.name);
  return names.reverse();
}
