/** What can be done to a thing from the palette, by the words that people type for it. */
const verbs = { deploy: ['deploy', 'serve'], terminate: ['terminate', 'stop'] } as const;
export type Verb = keyof typeof verbs;

/** A verb at the beginning of what was typed, written out, and what is meant: 'deploy sour' is to deploy 'sour'. */
export function parseVerb(typed: string): { verb: Verb | null; words: string } {
  const [first = '', ...rest] = typed.trim().split(/\s+/);
  const verb = (Object.keys(verbs) as Verb[]).find((name) =>
    verbs[name].some((word) => word === first.toLowerCase()),
  );
  return verb ? { verb, words: rest.join(' ') } : { verb: null, words: typed.trim() };
}
