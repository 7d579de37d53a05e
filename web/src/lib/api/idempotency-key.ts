import { useState } from 'react';
import { newId } from '../new-id.ts';
import { findKey, forgetKey, isRefusedKey, keepKey } from '../session/unanswered-keys.ts';
import { ApiError } from './api-error.ts';

/**
 * Keys for a form that spends: each input keeps its key until it is renewed or refused, whatever else is sent in between,
 * and over a reload while its answer is missing, so that a repeat after a lost answer is not charged again.
 */
export type IdempotencyKeys = {
  keyFor: (input: unknown) => string;
  /** Whether the same input was sent before, and not renewed: its repeat has the same key. */
  isRepeat: (input: unknown) => boolean;
  /** Call once it is known what came of an input: the next submit is a new attempt, even with the same one. */
  renew: (input: unknown) => void;
};

/** Keys for one purpose, whose inputs say all that a call of it does. */
export function idempotencyKeys(purpose: string, newKey: () => string = newId): IdempotencyKeys {
  const keys = new Map<string, string>();
  const nameOf = (input: unknown) => `key.${purpose}.${JSON.stringify(input)}`;
  const find = (name: string) => {
    const key = keys.get(name);
    return key !== undefined && !isRefusedKey(key) ? key : findKey(name);
  };
  return {
    keyFor(input) {
      const name = nameOf(input);
      const key = find(name) ?? newKey();
      keys.set(name, key);
      keepKey(name, key);
      return key;
    },
    isRepeat: (input) => find(nameOf(input)) !== undefined,
    renew(input) {
      const name = nameOf(input);
      const key = find(name);
      keys.delete(name);
      if (key !== undefined) forgetKey(key);
    },
  };
}

export function useIdempotencyKeys(purpose: string): IdempotencyKeys {
  return useState(() => idempotencyKeys(purpose))[0];
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

/**
 * Whether the server has looked at a call and refused it: neither it nor an earlier one with its key was carried out. It
 * does not look where it doubts who calls, or is called too often, which says nothing of an earlier one.
 */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && !isUnanswered(error) && ![0, 401, 403, 429].includes(error.status);
}
