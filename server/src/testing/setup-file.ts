import { afterAll, vi } from 'vitest';
import { closeAll } from './on-file-end.ts';

// A hash takes a tenth of a second and 32 MB by design. Nearly all users of the tests have the same password: it is hashed once.
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

// A setup file runs once for every test file: the hook belongs to it, wherever a test opens things.
afterAll(async () => {
  // The next file shares this process.
  vi.useRealTimers();
  await closeAll();
});
