import { getCredentials } from '../api/credentials.ts';
import { keepInTab, readFromTab } from '../tab-storage.ts';

/** Later than this, the same input means another order, not the call whose answer was lost. */
const KEPT_MS = 15 * 60_000;

/** By key, the name under which this tab keeps it. */
const names = new Map<string, string>();
const refused = new Set<string>();
const userId = () => getCredentials()?.userId ?? null;

/** Keeps the idempotency key of a call over reloads of this tab, until the call is answered. */
export function keepKey(name: string, key: string): void {
  names.set(key, name);
  keepInTab(userId(), name, { key, at: Date.now() });
}

/** The key that was kept under this name, of a call whose answer nobody has seen. */
export function findKey(name: string): string | undefined {
  const kept = readFromTab(userId(), name) as { key: string; at: number } | null;
  return kept && Date.now() - kept.at < KEPT_MS ? kept.key : undefined;
}

/** The call with this key was answered: after a reload the same input is another call. */
export function forgetKey(key: string): void {
  const name = names.get(key);
  names.delete(key);
  if (name !== undefined && findKey(name) === key) keepInTab(userId(), name, null);
}

/** The call with this key was refused, and nothing was done: its repeat is another call, also on this page. */
export function refuseKey(key: string): void {
  forgetKey(key);
  refused.add(key);
}

/** Whether a repeat with this key would get the refusal again. */
export function isRefusedKey(key: string): boolean {
  return refused.has(key);
}
