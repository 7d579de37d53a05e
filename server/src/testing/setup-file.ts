import { afterAll, vi } from 'vitest';
import { closeAll } from './on-file-end.ts';

// A hash takes a tenth of a second and 32 MB by design. Nearly all test users have the same password, so hash
// it once.
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

// A setup file runs once per test file, so this hook covers it, wherever a test opens resources.
afterAll(async () => {
  // The next file shares this process.
  vi.useRealTimers();
  await closeAll();
});
