import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { effort } from '../../../testing/soak.ts';
import { withFileLock } from './file-lock.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-lock-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Makes the lock look abandoned: its holder has not touched it for a minute. */
async function abandon(file: string): Promise<void> {
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(file, longAgo, longAgo);
}

it('lets one process work at a time', async () => {
  const file = path.join(folder, 'turns');
  let inside = 0;
  let most = 0;
  let waited = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    // The first process holds the lock until both others wait.
    await vi.waitUntil(() => waited === 2);
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
  await abandon(file);
  await expect(withFileLock(file, async () => 'mine')).resolves.toBe('mine');
});

it('lets one of many take over from a holder that died', async () => {
  for (let round = 0; round < effort({ usual: 5, soak: 100 }); round++) {
    const file = path.join(folder, `herd-${round}`);
    await writeFile(file, 'of the dead');
    await abandon(file);
    let inside = 0;
    let most = 0;
    let isOver = false;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
      isOver = true;
    };
    const aborting = new AbortController();
    const waiting = Array.from({ length: 8 }, () =>
      // Only one needs to get the lock; the others may be skipped.
      withFileLock(file, async () => (isOver ? undefined : work()), { signal: aborting.signal }),
    );
    await Promise.any(waiting);
    aborting.abort();
    await Promise.allSettled(waiting);
    expect(most).toBe(1);
  }
});

it('acquires the lock if a process died while it took over from a dead holder', async () => {
  const file = path.join(folder, 'guarded');
  for (const left of [file, `${file}.guard`]) {
    await writeFile(left, '');
    await abandon(left);
  }
  await expect(withFileLock(file, async () => 'mine')).resolves.toBe('mine');
  expect((await readdir(folder)).filter((name) => name.startsWith('guarded'))).toEqual([]);
});

it('a process that was suspended does not remove the lock of its successor', async () => {
  const file = path.join(folder, 'suspended');
  const { promise: first, resolve: wake } = Promise.withResolvers<void>();
  const { promise: second, resolve: end } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const suspended = withFileLock(file, () => {
    begun.resolve();
    return first;
  });
  await begun.promise;
  await abandon(file);
  const entered = Promise.withResolvers<void>();
  const successor = withFileLock(file, () => {
    entered.resolve();
    return second;
  });
  await entered.promise;
  const token = await readFile(file, 'utf8');
  wake();
  await suspended;
  expect(await readFile(file, 'utf8')).toBe(token);
  end();
  await successor;
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

it('stops waiting when aborted', async () => {
  const file = path.join(folder, 'held');
  await writeFile(file, '');
  const waiting = withFileLock(file, async () => 'never', { signal: AbortSignal.abort() });
  await expect(waiting).rejects.toThrow(/abort/i);
});
