import type { ReactNode } from 'react';

/** A text as it is drawn, and what of it will not change whatever follows. */
export type Parsed = {
  drawn: ReactNode;
  /** Where its last block begins, of those that stand on whole lines; what is before that is closed. */
  lastBlockAt: number;
  /** Whether another block may refer to something in it: a link or a footnote that is defined apart. */
  defines: boolean;
};

/** A text that grows, in pieces of closed blocks, each of which was parsed once, and the rest. */
export type Growing = { text: string; closed: ReactNode[]; restAt: number; rest: Parsed };

/**
 * Draws a text that has grown since it was `before` without parsing its closed blocks again: a block is closed for good by
 * the one that begins on a line below it. Pure.
 */
export function grow(before: Growing | null, text: string, parse: (text: string) => Parsed): Growing {
  const whole = () => ({ text, closed: [], restAt: 0, rest: parse(text) });
  if (!before || !text.startsWith(before.text) || before.rest.defines) return whole();
  const { closed, restAt, rest } = before;
  const at = restAt + rest.lastBlockAt;
  const next = parse(text.slice(at));
  if (next.defines) return whole();
  if (at === restAt) return { text, closed, restAt, rest: next };
  return { text, closed: [...closed, parse(text.slice(restAt, at)).drawn], restAt: at, rest: next };
}
