import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { previewFile } from '@bakehouse/contract/assets';
import { runSql } from '@bakehouse/contract/sql';
import { expect, test } from 'vitest';
import { realPython } from '../../../testing/real-python.ts';
import { testServer } from '../../../testing/test-server.ts';
import { importFolder } from '../../models/import/import-folder.ts';

const LINES = 10_000_000;
/** About a hundred bytes each. */
const lineOf = (number: number) => `${number},${number % 7},${'crumbs and crusts '.repeat(4)}${number}\n`;

test('pages, filters and counts a large file', {
  timeout: 900_000,
}, async () => {
  const server = await testServer({ config: realPython });
  const ada = await server.signUp('Ada');
  const folder = path.join(server.services.config.dataDir, 'imports/large');
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'large.csv');
  const stream = createWriteStream(file);
  stream.write('id,day,words\n');
  for (let number = 0; number < LINES; number += 1)
    if (!stream.write(lineOf(number))) await once(stream, 'drain');
  stream.end();
  await once(stream, 'finish');
  const { assetId } = await importFolder(server.services, { folder, title: 'Large', userId: ada.userId });
  const figures: Record<string, number> = { megabytes: Math.round((await stat(file)).size / 1e6) };
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    figures[name] = Math.round(performance.now() - start);
    return result;
  };
  const ask = async (query: string) => {
    const body = { query, limit: 3 };
    const { rows } = await timed(query, () =>
      server.request(runSql, { params: { id: assetId }, body }, { as: ada }),
    );
    return rows;
  };
  const first = await timed('first rows', () =>
    server.request(previewFile, { params: { id: assetId }, query: { path: 'large.csv' } }, { as: ada }),
  );
  expect(first).toMatchObject({ columns: expect.anything() });
  expect(await ask(`SELECT id FROM large LIMIT 3 OFFSET ${LINES - 3}`)).toEqual(
    [3, 2, 1].map((back) => [LINES - back]),
  );
  expect(await ask('SELECT id FROM large WHERE day = 6 LIMIT 2')).toEqual([[6], [13]]);
  expect(await ask('SELECT count(*) FROM large WHERE day = 6')).toEqual([[Math.floor(LINES / 7)]]);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
});
