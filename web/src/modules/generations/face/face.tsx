import type { Generation } from '@bakehouse/contract/generations';
import { ImageOff } from 'lucide-react';
import { cx } from '../../../lib/cx.ts';
import { Thumbnail } from '../view/thumbnail.tsx';

const PROMPT_MAX = 100;

type Props = {
  /** Null where it was deleted, undefined until it is known. */
  generation: Generation | null | undefined;
  /** Its size, and its place in the row. */
  className?: string;
};

/** A small picture of a generation beside a row about it; it has its place before it is there. */
export function Face({ generation, className = 'size-8' }: Props) {
  return (
    <span
      aria-hidden
      className={cx('relative block shrink-0 overflow-hidden rounded-md bg-subtle', className)}
    >
      {generation === null ? (
        <ImageOff className="absolute inset-0 m-auto size-4 text-faint" />
      ) : (
        generation && <Thumbnail generation={generation} />
      )}
    </span>
  );
}

/** A prompt in one line, short enough to be read in a row. */
export function shortPrompt(prompt: string): string {
  const line = prompt.replaceAll(/\s+/g, ' ').trim();
  return line.length > PROMPT_MAX ? `${line.slice(0, PROMPT_MAX - 1).trimEnd()}…` : line;
}
