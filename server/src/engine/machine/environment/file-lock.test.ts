import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withFileLock } from './file-lock.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-lock-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('lets one work at a time', async () => {
  const file = path.join(folder, 'turns');
  let inside = 0;
  let most = 0;
  let waited = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside -= 1;
  };
  await Promise.all([1, 2, 3].map(() => withFileLock(file, work, { onWait: () => waited++ })));
  expect(most).toBe(1);
  expect(waited).toBe(2);
});

it('is free again after work that failed', async () => {
  const file = path.join(folder, 'failed');
  await expect(withFileLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(withFileLock(file, async () => 'yes')).resolves.toBe('yes');
});

it('takes over from a holder that died', async () => {
  const file = path.join(folder, 'stale');
  await writeFile(file, '');
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(file, longAgo, longAgo);
  await expect(withFileLock(file, async () => 'mine')).resolves.toBe('mine');
});

it('stops waiting when it is told to', async () => {
  const file = path.join(folder, 'held');
  await writeFile(file, '');
  const waiting = withFileLock(file, async () => 'never', { signal: AbortSignal.abort() });
  await expect(waiting).rejects.toThrow(/abort/i);
});
