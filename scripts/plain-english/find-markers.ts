/** Phrases that plain English avoids, and the words to use instead. */
const markers: readonly { pattern: RegExp; instead: string }[] = [
  { pattern: /^What [a-z]/, instead: "a noun or a verb: 'Returns …', 'Fields that …'" },
  { pattern: /\bwhere (it|they|there|that|this|an?|none|nothing|nobody|one) /i, instead: 'if, when' },
  { pattern: /\b(nobody|somebody|anybody|everybody)\b/i, instead: 'the user, the caller, another process' },
  { pattern: /\bones? that\b/i, instead: 'the noun' },
  { pattern: /\b(lies?|lain|stands?|stood)\b/i, instead: 'is, is stored in' },
  { pattern: /\bgo(es)? on\b/i, instead: 'continue, resume' },
  { pattern: /\bcomes? (in|of|by|from|back|to|as|with|after|before)\b/i, instead: 'arrive, follow, return' },
  { pattern: /\bat once\b/i, instead: 'concurrently, immediately' },
  { pattern: /\bbeside\b/i, instead: 'next to, in addition to' },
  { pattern: /\b(that|those) of\b/i, instead: 'the noun' },
  { pattern: /\b(is|are|was|were) (not )?there\b/i, instead: 'exists, is available' },
  { pattern: /\bwho(m|se)?ever\b/i, instead: 'the caller, the user' },
  { pattern: /\bso (many|much|long|far)\b/i, instead: 'up to N, this long' },
  { pattern: /\bas (it|they) (is|are|was|were|comes?|stands?)\b/i, instead: 'unchanged' },
  { pattern: /\blook(s|ed)? (at|after|again)\b/i, instead: 'check, inspect' },
  { pattern: /\bmeanwhile\b/i, instead: 'in the meantime, concurrently' },
  { pattern: /\bof (which|whom|before|now)\b/i, instead: 'whose, previous, current' },
  { pattern: /\bgiv(e|es|en) (up|back)\b/i, instead: 'abandon, release' },
  { pattern: /\bby (itself|themselves|turns)\b/i, instead: 'automatically, alone' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\b(unless|as) (said|told)\b/i, instead: "'Defaults to …'" },
  { pattern: /\b(is|are|was) over\b/i, instead: 'expired, finished' },
  { pattern: /\bfor (ever|good)\b/i, instead: 'forever, permanently' },
  { pattern: /\bcame of\b/i, instead: 'result' },
  { pattern: /\bfilms?\b/i, instead: 'video' },
];

/** Returns the phrases in a text, as `'phrase': what to write instead`. Ignores quoted code. */
export function findMarkers(text: string): string[] {
  const prose = text.replaceAll(/`[^`]*`/g, '');
  return markers.flatMap(({ pattern, instead }) => {
    const found = prose.match(pattern)?.[0];
    return found === undefined ? [] : [`'${found.trim()}': ${instead}`];
  });
}
