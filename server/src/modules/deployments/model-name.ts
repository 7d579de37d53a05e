/** A title as the name for `model` in OpenAI-style calls: 'My Bot (v2)' -> 'my-bot-v2'. */
export function toModelName(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return name || 'model';
}

/** The name, or the first of name-2, name-3 … that is not taken. */
export function freeModelName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  }
}
