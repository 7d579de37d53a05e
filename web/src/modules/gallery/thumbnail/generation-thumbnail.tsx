import type { Generation } from '@bakehouse/contract/generations';
import { ImageOff } from 'lucide-react';
import { cx } from '../../../lib/cx.ts';
import { Thumbnail } from '../view/thumbnail.tsx';

const PROMPT_MAX = 100;

type Props = {
  /** Null if it was deleted; undefined while loading. */
  generation: Generation | null | undefined;
  /** Size and position in the row. */
  className?: string;
};

/** A thumbnail of a generation for a row about it; reserves its space while loading. */
export function GenerationThumbnail({ generation, className = 'size-8' }: Props) {
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

/** Returns the prompt on one line, shortened for a row. */
export function shortPrompt(prompt: string): string {
  const line = prompt.replaceAll(/\s+/g, ' ').trim();
  return line.length > PROMPT_MAX ? `${line.slice(0, PROMPT_MAX - 1).trimEnd()}…` : line;
}
