import { useState } from 'react';
import { newId } from '../new-id.ts';
import { ApiError } from './api-error.ts';

/** Keys for a form that spends: the same input keeps its key, so that a repeat after a lost answer is not charged again. */
export type IdempotencyKeys = {
  keyFor: (input: unknown) => string;
  /** Whether the same input was sent before, without success: its repeat has the same key. */
  isRepeat: (input: unknown) => boolean;
  /** Call after success: the next submit is a new attempt, even with the same input. */
  renew: () => void;
};

export function idempotencyKeys(newKey: () => string = newId): IdempotencyKeys {
  let last: { input: string; key: string } | null = null;
  return {
    keyFor(input) {
      const text = JSON.stringify(input);
      if (last?.input !== text) last = { input: text, key: newKey() };
      return last.key;
    },
    isRepeat: (input) => last?.input === JSON.stringify(input),
    renew() {
      last = null;
    },
  };
}

export function useIdempotencyKeys(): IdempotencyKeys {
  return useState(() => idempotencyKeys())[0];
}

/**
 * Whether nobody knows if a failed call was carried out: its answer was lost, or the server broke down over it. What was
 * never sent was not.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  const { status, code } = error;
  return status === 0 ? code !== 'no_key' : status === 408 || status >= 500;
}
