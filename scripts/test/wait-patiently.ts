import { vi } from 'vitest';

/** Detects hanging; tests must not depend on the machine's speed. vitest's default is 1 s. */
const WAITED_MS = 120_000;

// vitest has a setting for `expect.poll`, but none for these functions, so replace them.
const { waitFor, waitUntil } = vi;
type Limits = { timeout?: number; interval?: number };
const patient = (limits: number | Limits = {}): number | Limits =>
  typeof limits === 'number' ? limits : { timeout: WAITED_MS, ...limits };
vi.waitFor = (callback, limits) => waitFor(callback, patient(limits));
vi.waitUntil = (callback, limits) => waitUntil(callback, patient(limits));
