import { afterAll, vi } from 'vitest';
import { closeAll } from './on-file-end.ts';

// A setup file runs once for every test file: the hook belongs to it, wherever a test opens things.
afterAll(async () => {
  // The next file shares this process.
  vi.useRealTimers();
  await closeAll();
});
