import { chmod, link, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { shareFiles } from './share-files.ts';
import { reserveUser, userSandbox } from './user-sandbox.ts';

const dir = await temporaryFolder();
const sandbox = userSandbox(path.join(dir, 'lent'));

async function makeFile(name: string, mode: number): Promise<string> {
  const file = path.join(dir, name);
  await writeFile(file, name);
  await chmod(file, mode);
  return file;
}

/** Returns the inode and mode of a shared file. */
const seen = (localPath: string) =>
  shareFiles(sandbox, [{ localPath, as: 'file' }], async ({ folder }) => {
    const { ino, mode } = await stat(path.join(folder, 'file'));
    return { ino, mode: mode & 0o777 };
  });

describe.skipIf(process.getuid?.() !== 0)('a file shared with a separate user', () => {
  test('reserves its user, because another server would kill all processes of that user', async () => {
    const user = await shareFiles(sandbox, [], async (shared) => {
      expect(await reserveUser(shared.user)).toBeNull();
      return shared.user;
    });
    const isFree = async () => {
      const free = await reserveUser(user);
      free?.();
      return free !== null;
    };
    await expect.poll(isFree).toBe(true);
  });

  test('is not copied, and read-only', async () => {
    const own = await makeFile('own', 0o600);
    const { ino } = await stat(own);
    expect(await seen(own)).toEqual({ ino, mode: 0o444 });
    expect(await seen(own)).toEqual({ ino, mode: 0o444 });
  });

  test.each([0o600, 0o666])(
    "retains its permissions, %o, if the operator's folder contains the same file",
    async (mode) => {
      const imported = await makeFile(`imported-${mode}`, mode);
      await link(imported, `${imported}-blob`);
      const shared = await seen(`${imported}-blob`);
      const after = await stat(imported);
      expect(after.mode & 0o777).toBe(mode);
      expect(shared.mode).toBe(0o444);
      expect(shared.ino).not.toBe(after.ino);
    },
  );

  test('is not copied if everyone may read but not write it', async () => {
    const imported = await makeFile('readable', 0o644);
    await link(imported, `${imported}-blob`);
    expect(await seen(`${imported}-blob`)).toEqual({ ino: (await stat(imported)).ino, mode: 0o644 });
  });
});
