import { getCredentials } from '../api/credentials.ts';
import { readFromTab, writeToTab } from '../tab-storage.ts';

/** After this time, the same input counts as a new request, not as a retry. */
const KEPT_MS = 15 * 60_000;

/** Storage names by key. */
const names = new Map<string, string>();
const refused = new Set<string>();
const userId = () => getCredentials()?.userId ?? null;

/** Stores the idempotency key of a call in this tab, across reloads, until the call is answered. */
export function saveKey(name: string, key: string): void {
  names.set(key, name);
  writeToTab(userId(), name, { key, at: Date.now() });
}

/** Returns the stored key of an unanswered call. */
export function findKey(name: string): string | undefined {
  const kept = readFromTab(userId(), name) as { key: string; at: number } | null;
  return kept && Date.now() - kept.at < KEPT_MS ? kept.key : undefined;
}

/** Call when the request with this key was answered: after a reload, the same input is a new request. */
export function deleteKey(key: string): void {
  const name = names.get(key);
  names.delete(key);
  if (name !== undefined && findKey(name) === key) writeToTab(userId(), name, null);
}

/** Call when the request with this key was rejected without effect: a retry is then a new request. */
export function rejectKey(key: string): void {
  deleteKey(key);
  refused.add(key);
}

/** Returns true if a retry with this key would be rejected again. */
export function isRejectedKey(key: string): boolean {
  return refused.has(key);
}
