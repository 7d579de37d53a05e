const NAMED_MAX = 3;

/** Returns a sentence (without full stop) that lists the missing files; null if none are missing. */
export function nameMissing(title: string, missing: string[]): string | null {
  if (missing.length === 0) return null;
  const named = missing.slice(0, NAMED_MAX);
  const others = missing.length - named.length;
  const names = others > 0 ? [...named, `${others} more`] : named;
  const list = new Intl.ListFormat('en-GB').format(names);
  return `${title} is incomplete: ${list} ${missing.length > 1 ? 'are' : 'is'} missing`;
}
