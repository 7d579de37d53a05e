import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { previewFile } from '@bakehouse/contract/assets';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { importFolder } from '../../models/import/import-folder.ts';

const LINES = 10_000_000;
/** About a hundred bytes each. */
const lineOf = (number: number) => `${number},${number % 7},${'crumbs and crusts '.repeat(4)}${number}\n`;

test('a file of any size is paged at any depth, searched and counted', {
  timeout: 900_000,
}, async () => {
  const server = await testServer();
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
  const ask = (place: string, query: Record<string, string>) =>
    timed(`${place} ${Object.values(query).join(' ')}`, async () => {
      const words = new URLSearchParams({ dataset: assetId, split: 'train', ...query }).toString();
      const answer = await fetch(`${server.url}/hub/datasets-server/${place}?${words}`, {
        headers: { authorization: `Bearer ${ada.apiKey}` },
      });
      return (await answer.json()) as {
        rows: { row_idx: number; row: { id: number } }[];
        num_rows_total: number;
      };
    });
  const first = await timed('first rows', () =>
    server.request(previewFile, { params: { id: assetId }, query: { path: 'large.csv' } }, { as: ada }),
  );
  expect(first).toMatchObject({ columns: expect.anything() });
  const deep = await ask('rows', { offset: String(LINES - 3), length: '3' });
  expect(deep.rows.map(({ row_idx: index, row }) => [index, row.id])).toEqual(
    [3, 2, 1].map((back) => [LINES - back, LINES - back]),
  );
  expect(deep.num_rows_total).toBe(LINES);
  const filtered = await ask('filter', { where: '"day" = 6', length: '2' });
  expect(filtered.rows.map(({ row }) => row.id)).toEqual([6, 13]);
  expect(filtered.num_rows_total).toBe(Math.floor(LINES / 7));
  process.stdout.write(`${JSON.stringify(figures)}\n`);
});
