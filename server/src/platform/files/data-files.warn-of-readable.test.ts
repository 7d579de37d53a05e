import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { createLog } from '../log.ts';
import { warnOfReadable } from './data-files.ts';

test('the log names each secret file that others may read', async () => {
  const folder = await temporaryFolder();
  const [open, shut, group] = ['open', 'shut', 'group'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const file of [open, shut, group]) await writeFile(file, 'x');
  await chmod(open, 0o444);
  await chmod(shut, 0o400);
  await chmod(group, 0o640);
  const lines: string[] = [];
  const log = createLog(
    { logLevel: 'info', logFormat: 'json' },
    { destination: { write: (line) => void lines.push(JSON.parse(line).msg) } },
  );
  await warnOfReadable([path.join(folder, 'gone'), open, shut, group], log);
  expect(lines).toEqual([
    `${open} is readable by every user of this machine, including workloads: chmod 600 it`,
  ]);
});
