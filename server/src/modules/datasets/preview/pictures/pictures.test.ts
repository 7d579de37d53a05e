import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describeColumns, listFilePictures, showPictures } from '@bakehouse/contract/data-files';
import { DuckDBInstance } from '@duckdb/node-api';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { realPython } from '../../../../testing/real-python.ts';
import { temporaryFolder } from '../../../../testing/temporary-folder.ts';
import { testServer } from '../../../../testing/test-server.ts';
import { assetCalls } from '../../../assets/testing/asset-calls.ts';

/**
 * A Parquet file with a picture, a truncated picture and an empty cell, in the format of the Python library
 * `datasets`.
 */
async function picturesParquet(): Promise<Uint8Array<ArrayBuffer>> {
  const file = path.join(await temporaryFolder(), 'pictures.parquet');
  const png = await sharp({ create: { width: 640, height: 320, channels: 3, background: '#a52' } })
    .png()
    .toBuffer();
  const hex = (bytes: Buffer) => `from_hex('${bytes.toString('hex')}')`;
  const database = await (await DuckDBInstance.create(':memory:')).connect();
  await database.run(
    `COPY (SELECT * FROM (VALUES
       ({'bytes': ${hex(png)}, 'path': 'a.png'}, 'whole'),
       ({'bytes': ${hex(png.subarray(0, png.length / 2))}, 'path': 'b.png'}, 'cut off'),
       (NULL, 'none')) t(image, caption)) TO '${file}' (FORMAT parquet)`,
  );
  return new Uint8Array(await readFile(file));
}

test('returns thumbnails of pictures in Parquet, and reports broken pictures', async () => {
  const server = await testServer({ config: realPython });
  const { create, upload } = assetCalls(server);
  const [ada, eve] = [await server.signUp(), await server.signUp()];
  const id = await create(ada);
  await upload(ada, id, 'p.parquet', await picturesParquet());
  const query = { path: 'p.parquet' };
  const { columns } = await server.request(describeColumns, { params: { id }, query }, { as: ada });
  expect(columns.map(({ name, type }) => [name, type])).toEqual([
    ['image', 'picture'],
    ['caption', 'text'],
  ]);
  const look = (column: string, as = ada) =>
    server.request(showPictures, { params: { id }, query: { ...query, column } }, { as });
  const { pictures, broken } = await look('image');
  expect(pictures).toEqual([expect.stringMatching(/^data:image\/webp;base64,/), null, null]);
  const bytes = Buffer.from(pictures[0]?.split(',')[1] ?? '', 'base64');
  expect(await sharp(bytes).metadata()).toMatchObject({ width: 128, height: 64, format: 'webp' });
  expect(broken).toEqual([{ at: 1, reason: expect.any(String) }]);
  expect((await look('caption')).pictures).toEqual([null, null, null]);
  await expect(look('nope')).rejects.toThrow("The file has no column 'nope'.");
  await expect(look('image', eve)).rejects.toMatchObject({ status: 404 });
});

test('returns thumbnails of picture files page by page, and reports broken pictures', async () => {
  const server = await testServer({ config: realPython });
  const { create, uploadAt } = assetCalls(server);
  const [ada, eve] = [await server.signUp(), await server.signUp()];
  const id = await create(ada);
  const png = await sharp({ create: { width: 640, height: 320, channels: 3, background: '#a52' } })
    .png()
    .toBuffer();
  const turned = await sharp(png).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  await uploadAt(ada, id, 'loaves/a.png', new Uint8Array(png));
  await uploadAt(ada, id, 'loaves/B.JPG', new Uint8Array(turned));
  await uploadAt(ada, id, 'loaves/broken.png', new Uint8Array(png.subarray(0, png.length / 2)));
  await uploadAt(ada, id, 'loaves/text.webp', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await uploadAt(ada, id, 'metadata.csv', 'file_name,text\nloaves/a.png,rye\n');
  const look = (query: { limit?: number; cursor?: string } = {}, as = ada) =>
    server.request(listFilePictures, { params: { id }, query }, { as });

  const { pictures, next_cursor } = await look();
  expect(next_cursor).toBeNull();
  expect(pictures.map(({ path: name, width, height }) => [name, width, height])).toEqual(
    expect.arrayContaining([
      ['loaves/a.png', 640, 320],
      ['loaves/B.JPG', 320, 640],
      ['loaves/broken.png', null, null],
      ['loaves/text.webp', null, null],
    ]),
  );
  expect(pictures).toHaveLength(4);
  for (const { thumbnail, problem } of pictures)
    expect([thumbnail === null, problem === null]).toContain(true);
  const broken = pictures.find(({ path: name }) => name === 'loaves/broken.png');
  expect(broken?.problem).not.toMatch(/\/tmp|sandbox/);
  const first = await look({ limit: 3 });
  expect(first.pictures).toHaveLength(3);
  const rest = await look({ cursor: first.next_cursor ?? '' });
  expect([...first.pictures, ...rest.pictures]).toEqual(pictures);
  await expect(look({}, eve)).rejects.toMatchObject({ status: 404 });
});
