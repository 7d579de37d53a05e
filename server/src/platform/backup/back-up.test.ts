import { link, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { renameWithoutOverwrite } from './back-up.ts';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return { ...real, link: vi.fn(real.link) };
});
afterEach(() => vi.mocked(link).mockRestore());

/** Writes two files concurrently for one name, and returns the results. */
async function nameTwo() {
  const dir = await temporaryFolder();
  const file = path.join(dir, 'backup.tar');
  const refusals: string[] = [];
  for (const one of ['first', 'second']) {
    await writeFile(path.join(dir, one), one);
    await renameWithoutOverwrite(path.join(dir, one), file).catch((error: Error) =>
      refusals.push(error.message),
    );
  }
  return {
    refused: refusals.join() === `${file} exists already`,
    named: await readFile(file, 'utf8'),
    left: await readdir(dir),
  };
}
const firstAlone = { refused: true, named: 'first', left: ['backup.tar', 'second'] };

test('a name is used once, and nothing is replaced', async () => {
  expect(await nameTwo()).toEqual(firstAlone);
});

test('works on a disk without hard links', async () => {
  vi.mocked(link).mockRejectedValue(Object.assign(new Error('operation not permitted'), { code: 'EPERM' }));
  expect(await nameTwo()).toEqual(firstAlone);
});

test('reports other errors', async () => {
  const dir = await temporaryFolder();
  await expect(renameWithoutOverwrite(path.join(dir, 'gone'), path.join(dir, 'backup.tar'))).rejects.toThrow(
    'ENOENT',
  );
});
