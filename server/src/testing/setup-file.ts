import { afterAll, vi } from 'vitest';
import { closeAll } from './on-file-end.ts';

// Hashing a password takes 0.1 s and 32 MB by design. Nearly all test users have the same password, so hash
// it only once.
vi.mock('better-auth/crypto', async (importOriginal) => {
  const real = await importOriginal<typeof import('better-auth/crypto')>();
  const once = <In, Out>(work: (input: In) => Promise<Out>) => {
    const known = new Map<string, Promise<Out>>();
    return (input: In): Promise<Out> => {
      const key = JSON.stringify(input);
      const done = known.get(key) ?? work(input);
      known.set(key, done);
      return done;
    };
  };
  return { ...real, hashPassword: once(real.hashPassword), verifyPassword: once(real.verifyPassword) };
});

// This file runs once per test file, so the hook also closes what a test has opened.
afterAll(async () => {
  // The next test file runs in the same process.
  vi.useRealTimers();
  await closeAll();
});
