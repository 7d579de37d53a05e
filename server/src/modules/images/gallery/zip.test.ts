import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { linkZip } from '@bakehouse/contract/gallery';
import { deleteGeneration, getGeneration } from '@bakehouse/contract/generations';
import { deleteAccount } from '@bakehouse/contract/privacy';
import { beforeEach, expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { PIXEL } from '../../generations/testing/image-server.ts';
import { insertPicture } from '../../generations/testing/insert-picture.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const ada = await server.signUp('Ada');
const made = async (as: TestUser, hasPicture?: boolean) =>
  insertPicture(server.services, { userId: as.userId, prompt: 'A loaf of bread', hasPicture });

let ids: string[];
let outputIds: string[];
beforeEach(async () => {
  const both = [await made(ada), await made(ada)];
  ids = both.map(({ id }) => id);
  outputIds = both.map(({ outputId }) => outputId);
});

const link = (as: TestUser, chosen: string[]) => server.request(linkZip, { body: { ids: chosen } }, { as });
const open = (url: string) => fetch(new URL(url, server.url));
const refusal = async (url: string) => {
  const answer = await open(url);
  const body = (await answer.json()) as { error: { message: string } };
  return [answer.status, body.error.message];
};

test('downloads pictures as one zip, without a key, with descriptive names', async () => {
  const { url, expires_at } = await link(ada, [...ids, ids[0]?.toUpperCase() ?? '']);
  expect(Date.parse(expires_at) - clock.now().getTime()).toBeGreaterThan(59 * 60_000);
  const answer = await open(url);
  expect(answer.headers.get('content-type')).toBe('application/zip');
  expect(answer.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''pictures.zip");
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(Number(answer.headers.get('content-length'))).toBe(bytes.length);
  const file = path.join(await temporaryFolder(), 'pictures.zip');
  await writeFile(file, bytes);
  const program = `import json, sys, zipfile, base64
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps([[name, base64.b64encode(archive.read(name)).decode()] for name in archive.namelist()]))`;
  const { stdout } = await promisify(execFile)('python3', ['-c', program, file]);
  expect(JSON.parse(stdout)).toEqual(outputIds.map((id) => [`a-loaf-of-bread-${id.slice(-12)}.png`, PIXEL]));
});

test('links to a picture and to a zip stop working when the picture or the account is deleted', async () => {
  const bob = await server.signUp('Bob');
  const [kept, deleted] = [await made(bob), await made(bob)];
  const picture = async ({ id }: { id: string }) =>
    (await server.request(getGeneration, { params: { id } }, { as: bob })).outputs[0]?.url ?? '';
  const [own, other] = [await picture(kept), await picture(deleted)];
  const zip = (await link(bob, [kept.id])).url;
  const statuses = () => Promise.all([own, other, zip].map(async (url) => (await open(url)).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  // Both pictures have the same bytes, and the other generation still uses them.
  await server.request(deleteGeneration, { params: { id: deleted.id } }, { as: bob });
  expect(await statuses()).toEqual([200, 200, 200]);
  await server.request(
    deleteAccount,
    { body: { password: 'correct horse battery staple' } },
    { headers: { cookie: bob.cookie } },
  );
  expect(await statuses()).toEqual([404, 404, 404]);
});

test('accepts 1 to 200 pictures per link, and rejects a malformed id', async () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => ids[0]?.replace(/.{3}$/, `${100 + n}`) ?? '');
  const ask = (chosen: string[]) => link(ada, chosen);
  await expect(ask(many(200)), 'none of them is there').rejects.toMatchObject({ status: 404 });
  for (const wrong of [many(201), []])
    await expect(ask(wrong)).rejects.toMatchObject({ status: 400, body: { error: { param: 'ids' } } });
  await expect(ask(['bread'])).rejects.toMatchObject({ status: 404, body: { error: { param: 'ids.0' } } });
});

test("creates no zip if one picture is another user's or does not exist", async () => {
  const bob = await server.signUp('Bob');
  const his = await made(bob);
  const error = { code: 'not_found', message: 'No generation has this id', param: 'ids' };
  await expect(link(ada, [...ids, his.id])).rejects.toMatchObject({ status: 404, body: { error } });
  await expect(link(bob, ids)).rejects.toMatchObject({ status: 404, body: { error } });
});

test('names a generation without a picture', async () => {
  const { id } = await made(ada, false);
  await expect(link(ada, [...ids, id])).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'ids', message: `ids: generation ${id} has made no picture` } },
  });
});

test('rejects a link that was modified, has expired, or whose picture was deleted', async () => {
  const { url } = await link(ada, ids);
  const bob = await server.signUp('Bob');
  const changed = [
    url.replace(ada.userId, bob.userId),
    url.replace(/ids=[^&]{6}/, 'ids=AAAAAA'),
    url.replace(/expires=\d+/, 'expires=9999999999'),
    url.replace(/signature=.*/, 'signature=x'),
  ];
  for (const one of changed)
    expect(await refusal(one)).toEqual([403, expect.stringContaining('was not made by this server')]);
  await server.request(deleteGeneration, { params: { id: ids[1] ?? '' } }, { as: ada });
  expect(await refusal(url)).toEqual([404, 'No generation has this id']);
  clock.advance({ minutes: 61 });
  expect(await refusal(url)).toEqual([410, 'This link has expired. Ask for a new one.']);
});
