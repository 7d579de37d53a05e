import type { ReactNode } from 'react';

/** Rendered text, and how much of it can no longer change. */
export type Parsed = {
  drawn: ReactNode;
  /** Offset of the last block that starts on a complete line. Everything before it is closed. */
  lastBlockAt: number;
  /** True if other blocks may refer to it: it defines a link or footnote. */
  defines: boolean;
};

/** Streaming text: closed blocks, each parsed once, and the unparsed rest. */
export type StreamedMarkdown = { text: string; closed: ReactNode[]; restAt: number; rest: Parsed };

/**
 * Renders text that has grown since `before` without parsing its closed blocks again. A block is closed once
 * another block starts on a later line.
 */
export function extendMarkdown(
  before: StreamedMarkdown | null,
  text: string,
  parse: (text: string) => Parsed,
): StreamedMarkdown {
  const whole = () => ({ text, closed: [], restAt: 0, rest: parse(text) });
  if (!before || !text.startsWith(before.text) || before.rest.defines) return whole();
  const { closed, restAt, rest } = before;
  const at = restAt + rest.lastBlockAt;
  const next = parse(text.slice(at));
  if (next.defines) return whole();
  if (at === restAt) return { text, closed, restAt, rest: next };
  return { text, closed: [...closed, parse(text.slice(restAt, at)).drawn], restAt: at, rest: next };
}
