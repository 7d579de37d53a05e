import type { LinkProps } from '@tanstack/react-router';

/** A long-running task in the header list. */
export type LongWork = {
  /** Unique across kinds: `run-…`. */
  id: string;
  title: string;
  /** Thumbnail URL; null if the picture doesn't exist yet. */
  picture?: string | null;
  /** The current phase. */
  phase: string;
  /** Omitted from the list while running; only its completion is announced. */
  isUnlisted?: true;
  /** 0 to 100; null while unknown. */
  progress: number | null;
  /** Link to its details. */
  link?: Pick<LinkProps, 'to' | 'params' | 'search'>;
  cancel?: {
    /** Confirmation shown before cancelling; omit it if nothing is lost. */
    question?: { title: string; description: string; action: string };
    run: () => void;
  };
  /** The outcome; null while running. Announced with a toast if this browser started or saw the task. */
  end: {
    kind: 'success' | 'failure' | 'warning' | 'info';
    title: string;
    description?: string;
    /** Stays in the list until the user fixes the problem. */
    isListed?: boolean;
    /** The page shows the outcome, so no toast is needed. */
    isOnScreen?: boolean;
  } | null;
};

/** Ids of tasks whose completion will be announced. */
const awaited = new Set<string>();

/**
 * Announces the completion of this task. Call it when starting a task, which may finish before it is first
 * listed.
 */
export function expectEnd(id: string): void {
  awaited.add(id);
}

/** Returns true once if the completion should be announced. */
export function consumeAwaitedEnd(id: string): boolean {
  return awaited.delete(id);
}
