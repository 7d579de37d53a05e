const NAMED_MAX = 3;

/** The sentence without its full stop that names the files that a model lacks; null where it lacks none. Pure. */
export function nameMissing(title: string, missing: string[]): string | null {
  if (missing.length === 0) return null;
  const named = missing.slice(0, NAMED_MAX);
  const others = missing.length - named.length;
  const names = others > 0 ? [...named, `${others} more`] : named;
  const list = new Intl.ListFormat('en-GB').format(names);
  return `${title} is incomplete: ${list} ${missing.length > 1 ? 'are' : 'is'} missing`;
}
