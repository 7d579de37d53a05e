import { link, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { giveName } from './give-name.ts';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return { ...real, link: vi.fn(real.link) };
});
afterEach(() => vi.mocked(link).mockRestore());

/** Two that were written at once for one name, and what came of them. */
async function nameTwo() {
  const dir = await temporaryFolder();
  const file = path.join(dir, 'backup.tar');
  const results: unknown[] = [];
  for (const one of ['first', 'second']) {
    await writeFile(path.join(dir, one), one);
    results.push(await giveName(path.join(dir, one), file).catch((error: Error) => error.message));
  }
  expect(results).toEqual([undefined, `${file} exists already`]);
  expect(await readdir(dir)).toEqual(['backup.tar', 'second']);
  expect(await readFile(file, 'utf8')).toBe('first');
}

test('a name is given once, and nothing is replaced', nameTwo);

test('a disk without hard links has it too', async () => {
  vi.mocked(link).mockRejectedValue(Object.assign(new Error('operation not permitted'), { code: 'EPERM' }));
  await nameTwo();
});

test('what else goes wrong is said', async () => {
  const dir = await temporaryFolder();
  await expect(giveName(path.join(dir, 'gone'), path.join(dir, 'backup.tar'))).rejects.toThrow('ENOENT');
});
