import type { LinkProps } from '@tanstack/react-router';

/** Something that takes a while, as the list of long work shows it. */
export type LongWork = {
  /** Unique over all kinds: `run-…`. */
  id: string;
  title: string;
  /** The address of a small picture of it; null where it will have one. */
  picture?: string | null;
  /** What it does now. */
  phase: string;
  /** Nobody waits for its end: while it goes on the list leaves it out, and only its end is told. */
  isUnlisted?: true;
  /** 0 to 100; null while unknown. */
  progress: number | null;
  /** Where more of it is to be seen. */
  link?: Pick<LinkProps, 'to' | 'params' | 'search'>;
  cancel?: {
    /** What is asked first; without it nothing is lost that could not be begun again. */
    question?: { title: string; description: string; action: string };
    run: () => void;
  };
  /** How it ended; null while it is under way. Whoever started it or saw it under way hears of it by a toast. */
  end: {
    kind: 'success' | 'failure' | 'warning' | 'info';
    title: string;
    description?: string;
    /** It stays in the list, because something is missing until it is mended. */
    isListed?: boolean;
  } | null;
};

/** The ids of work whose end is announced. */
const awaited = new Set<string>();

/** Announces the end of this work. Who starts some says so too: it may have ended before it is listed for the first time. */
export function awaitEnd(id: string): void {
  awaited.add(id);
}

/** Whether the end is to be announced; true once. */
export function takeAwaited(id: string): boolean {
  return awaited.delete(id);
}
