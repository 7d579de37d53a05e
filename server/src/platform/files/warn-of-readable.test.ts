import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { createLog } from '../log.ts';
import { warnOfReadable } from './warn-of-readable.ts';

test('the log names each secret file that others may read', async () => {
  const folder = await temporaryFolder();
  const [open, shut] = [path.join(folder, 'open'), path.join(folder, 'shut')];
  for (const file of [open, shut]) await writeFile(file, 'x');
  await chmod(open, 0o444);
  await chmod(shut, 0o400);
  const lines: string[] = [];
  const log = createLog(
    { logLevel: 'info', logFormat: 'json' },
    { destination: { write: (line) => void lines.push(JSON.parse(line).msg) } },
  );
  await warnOfReadable([path.join(folder, 'gone'), open, shut], log);
  expect(lines).toEqual([`Every user of this machine may read ${open}, workloads too: chmod 600 it`]);
});
