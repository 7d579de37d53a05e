import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { othersMayRead } from './others-may-read.ts';

test('a file is readable by others by its mode, and one that is not there by nobody', async () => {
  const file = path.join(await temporaryFolder(), '.env');
  expect(await othersMayRead(file)).toBe(false);
  await writeFile(file, 'BAKEHOUSE_SECRET=x');
  await chmod(file, 0o644);
  expect(await othersMayRead(file)).toBe(true);
  await chmod(file, 0o640);
  expect(await othersMayRead(file)).toBe(false);
});
