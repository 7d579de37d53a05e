import { useState } from 'react';
import { newId } from '../new-id.ts';
import { deleteKey, findKey, isRejectedKey, saveKey } from '../session/unanswered-keys.ts';
import { ApiError } from './api-error.ts';

/**
 * Idempotency keys for a form that spends. An input keeps its key until it is renewed or rejected, and across
 * reloads while its response is missing, so that a retry isn't charged twice.
 */
export type IdempotencyKeys = {
  keyFor: (input: unknown) => string;
  /** Returns true if the input was sent before and not renewed: a retry would use the same key. */
  isRepeat: (input: unknown) => boolean;
  /**
   * Call once the outcome of an input is known. The next submit is a new attempt, even with the same input.
   */
  renew: (input: unknown) => void;
};

/** Creates keys for one purpose. Inputs must determine everything that a call does. */
export function idempotencyKeys(purpose: string, newKey: () => string = newId): IdempotencyKeys {
  const keys = new Map<string, string>();
  const nameOf = (input: unknown) => `key.${purpose}.${JSON.stringify(input)}`;
  const find = (name: string) => {
    const key = keys.get(name);
    return key !== undefined && !isRejectedKey(key) ? key : findKey(name);
  };
  return {
    keyFor(input) {
      const name = nameOf(input);
      const key = find(name) ?? newKey();
      keys.set(name, key);
      saveKey(name, key);
      return key;
    },
    isRepeat: (input) => find(nameOf(input)) !== undefined,
    renew(input) {
      const name = nameOf(input);
      const key = find(name);
      keys.delete(name);
      if (key !== undefined) deleteKey(key);
    },
  };
}

export function useIdempotencyKeys(purpose: string): IdempotencyKeys {
  return useState(() => idempotencyKeys(purpose))[0];
}

/**
 * Returns true if the outcome of a failed call is unknown: its response was lost or the server failed. Calls
 * that were never sent have a known outcome.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  const { status, code } = error;
  return status === 0 ? code !== 'no_key' : status === 408 || status >= 500;
}

/**
 * Returns true if the server rejected a call after checking its key: neither it nor an earlier call with the
 * same key was executed. Authentication and rate limit errors precede that check, so they don't count.
 */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && !isUnanswered(error) && ![0, 401, 403, 429].includes(error.status);
}
