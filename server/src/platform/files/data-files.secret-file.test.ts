import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { readOrMakeSecret } from './data-files.ts';

test('concurrent processes create one secret, readable by the owner only', async () => {
  const dir = await temporaryFolder();
  const secrets = await Promise.all(Array.from({ length: 8 }, () => readOrMakeSecret(dir)));
  expect(new Set(secrets).size).toBe(1);
  expect(await readOrMakeSecret(dir)).toBe(secrets[0]);
  expect((await stat(path.join(dir, 'secret'))).mode & 0o777).toBe(0o600);
  expect(await readdir(dir)).toEqual(['secret']);
});

test('does not replace a damaged secret, which would lock users out', async () => {
  const dir = await temporaryFolder();
  await writeFile(path.join(dir, 'secret'), 'short');
  await expect(readOrMakeSecret(dir)).rejects.toThrow('does not contain a usable secret');
  expect(await readFile(path.join(dir, 'secret'), 'utf8')).toBe('short');
});
