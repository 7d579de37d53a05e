const LENGTH_MAX = 200;
const COUNT_MAX = 250;
/**
 * Repetitions and optional parts one after the other: each may begin where the one before ends, and a
 * grammar follows all of these readings. Measured with llama.cpp: ten of `[a-z]{0,12}` take 0.2 s
 * for the worst token, sixteen 2.3 s.
 */
const VARIABLE_MAX = 8;

/** A quantifier that stands at the beginning of the text. */
const quantifier = /^(?:[*+?]|\{(\d*)(,?)(\d*)\})/;

/** What a group has inside of it, as far as the parser has come. */
type Group = { hasQuantifier: boolean; hasAlternation: boolean };

/**
 * Why a regular expression cannot be asked for, in a sentence, or how many repetitions and optional
 * parts it has when it can. Repetition inside of
 * repetition, and alternatives that are repeated, can be read in ever more ways as a text grows, and
 * a grammar follows them all. Pure.
 */
export function checkPattern(pattern: string): { fault: string } | { variable: number } {
  if (pattern.length > LENGTH_MAX) return { fault: `at most ${LENGTH_MAX} characters` };
  const open: Group[] = [{ hasQuantifier: false, hasAlternation: false }];
  let closed: Group | null = null;
  let variable = 0;
  let repeated = 0;
  for (let at = 0; at < pattern.length; ) {
    const found = quantifier.exec(pattern.slice(at));
    if (found) {
      if (closed?.hasQuantifier) return { fault: 'no repetition inside of a repeated or optional group' };
      const [text, least = '', , most = ''] = found;
      // An optional group is read once at most, whichever of its alternatives it is.
      if (closed?.hasAlternation && text !== '?') return { fault: "no '|' inside of a repeated group" };
      repeated += Math.max(Number(least), Number(most));
      if (!/^\{\d+\}$/.test(text)) variable += 1;
      if (repeated > COUNT_MAX) return { fault: `at most ${COUNT_MAX} repetitions in all` };
      if (variable > VARIABLE_MAX) return { fault: `at most ${VARIABLE_MAX} repetitions and optional parts` };
      for (const group of open) group.hasQuantifier = true;
      closed = null;
      at += text.length;
      continue;
    }
    const char = pattern[at];
    closed = null;
    if (char === '(') open.push({ hasQuantifier: false, hasAlternation: false });
    else if (char === ')') {
      closed = open.length > 1 ? (open.pop() ?? null) : null;
      if (!closed) return { fault: "a ')' without its '('" };
    } else if (char === '|') for (const group of open) group.hasAlternation = true;
    // An alternative of nothing makes the group optional.
    if (char === '|' || char === '(') {
      if (/^[|)]/.test(pattern.slice(at + 1))) return { fault: "no empty alternative: write '?'" };
    }
    at += char === '[' ? classLength(pattern.slice(at)) : char === '\\' ? 2 : 1;
  }
  return open.length > 1 ? { fault: "a '(' without its ')'" } : { variable };
}

/** The length of the character class that the text begins with. */
function classLength(text: string): number {
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === ']' && at > 1) return at + 1;
  }
  return text.length;
}
