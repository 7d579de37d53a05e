import { useState } from 'react';
import { newId } from '../new-id.ts';
import { ApiError } from './api-error.ts';

/**
 * Keys for a form that spends: each input keeps its key until it has succeeded, whatever else is sent in between, so that
 * a repeat after a lost answer is not charged again.
 */
export type IdempotencyKeys = {
  keyFor: (input: unknown) => string;
  /** Whether the same input was sent before, without success: its repeat has the same key. */
  isRepeat: (input: unknown) => boolean;
  /** Call after success of what was sent last: its next submit is a new attempt, even with the same input. */
  renew: () => void;
};

export function idempotencyKeys(newKey: () => string = newId): IdempotencyKeys {
  const unanswered = new Map<string, string>();
  let last = '';
  return {
    keyFor(input) {
      last = JSON.stringify(input);
      const key = unanswered.get(last) ?? newKey();
      unanswered.set(last, key);
      return key;
    },
    isRepeat: (input) => unanswered.has(JSON.stringify(input)),
    renew: () => void unanswered.delete(last),
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
