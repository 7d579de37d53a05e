import { readFile, rm, writeFile } from 'node:fs/promises';
import { deleteGeneration } from '@bakehouse/contract/generations';
import { deleteAccount, exportData } from '@bakehouse/contract/privacy';
import * as shares from '@bakehouse/contract/share-links';
import { beforeEach, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { PIXEL } from '../generations/testing/image-server.ts';
import { insertPicture } from '../generations/testing/insert-picture.ts';
import { linkPages } from './testing/link-pages.ts';

const server = await testServer();
const { db } = server.services;
const { index, page, fetchOwn, tokenOf, statusesOf, shown } = await linkPages(server);
const PROMPT = 'A "rye" loaf & <b>butter</b>';

let ada: TestUser;
let id: string;
beforeEach(async () => {
  ada = await server.signUp('Ada');
  ({ id } = await insertPicture(server.services, { userId: ada.userId, prompt: PROMPT }));
});

const call = () => [{ params: { id } }, { as: ada }] as const;
const share = async () => (await server.request(shares.shareGeneration, ...call())).share;

test('a link shows only the picture, prompt, generator and maker to everyone', async () => {
  expect(await server.request(shares.getGenerationShare, ...call())).toEqual({ share: null });
  const made = await share();
  expect(made.url).toMatch(/^http:\/\/[^/]+\/share\/[\w-]{44}$/);
  expect(await share()).toEqual(made);
  expect(await server.request(shares.getGenerationShare, ...call())).toEqual({ share: made });

  const seen = await shown(tokenOf(made));
  const url = expect.stringMatching(/^\/api\/v1\/shares\/[\w-]{44}\/outputs\/[0-9a-f-]{36}$/);
  const output = { media_type: 'image/png', width: 1, height: 1, duration_s: null, has_audio: null };
  expect(seen).toEqual({
    ...{ generator: 'paris', title: 'Paris', prompt: PROMPT, maker: 'Ada', created_at: expect.any(String) },
    outputs: [{ ...output, id: expect.any(String), url, thumbnail_url: url }],
  });
  const answer = await fetchOwn(seen.outputs[0]?.url ?? '');
  expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe(PIXEL);
  expect(answer.headers.get('content-type')).toBe('image/png');
  expect(answer.headers.get('cache-control')).toBe('private, no-cache');
  expect(answer.headers.get('x-robots-tag')).toBe('noindex');
  const headers = { 'if-none-match': answer.headers.get('etag') ?? '' };
  expect((await fetchOwn(seen.outputs[0]?.url ?? '', { headers })).status).toBe(304);
});

test("hides the maker's name if it is an email address, and hides the maker's other pictures", async () => {
  await db.updateTable('users').set({ name: ada.email }).where('id', '=', ada.userId).execute();
  const token = tokenOf(await share());
  expect((await shown(token)).maker).toBeNull();
  expect(JSON.stringify(await shown(token)) + (await page(token)).payload).not.toContain('@');
  const { outputId } = await insertPicture(server.services, { userId: ada.userId, prompt: 'Mine' });
  expect(
    (await server.send(shares.openSharedOutput, { params: { token, outputId }, query: {} })).status,
  ).toBe(404);
});

test('the page has a link preview, and must not be indexed or cached', async () => {
  const made = await share();
  const answer = await page(tokenOf(made));
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['x-robots-tag']).toBe('noindex, nofollow');
  const image = new URL((await shown(tokenOf(made))).outputs[0]?.url ?? '', server.url).href;
  const escaped = 'A &#34;rye&#34; loaf &#38; &#60;b&#62;butter&#60;/b&#62;';
  for (const line of [
    '<title>Paris picture by Ada · Bakehouse</title>',
    '<meta name="robots" content="noindex, nofollow" />',
    `<meta name="description" content="${escaped}" />`,
    '<meta property="og:title" content="Paris picture by Ada" />',
    `<meta property="og:url" content="${made.url}" />`,
    `<meta property="og:image" content="${image}" />`,
    '<meta property="og:image:width" content="1" />',
    '<meta name="twitter:card" content="summary_large_image" />',
  ])
    expect(answer.payload).toContain(line);
  expect(answer.payload).not.toContain('content="Bread"');
  expect(answer.payload.match(/<title>/g)).toHaveLength(1);
  const zipped = await page(tokenOf(made), { 'accept-encoding': 'br, gzip' });
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(zipped.headers.vary).toBe('accept-encoding');
});

test("a video's preview has its first frame and its file with their sizes", async () => {
  const video = { media_type: 'video/mp4', width: 1024, height: 512, duration_s: 2, has_audio: false };
  const poster = {
    thumbnail_sha256: db.selectFrom('generation_outputs').select('sha256').limit(1),
    thumbnail_bytes: 1n,
  };
  await db.updateTable('generations').set({ generator: 'wan' }).where('id', '=', id).execute();
  await db
    .updateTable('generation_outputs')
    .set({ ...video, ...poster })
    .where('generation_id', '=', id)
    .execute();
  const token = tokenOf(await share());
  const [output] = (await shown(token)).outputs;
  expect(output?.thumbnail_url).toBe(`${output?.url}?thumbnail=true`);
  const { payload } = await page(token);
  for (const [property, content] of Object.entries({
    'og:type': 'video.other',
    'og:image': new URL(output?.thumbnail_url ?? '', server.url).href,
    'og:image:type': 'image/webp',
    'og:image:width': '512',
    'og:image:height': '256',
    'og:video': new URL(output?.url ?? '', server.url).href,
    'og:video:type': 'video/mp4',
  }))
    expect(payload).toContain(`<meta property="${property}" content="${content}" />`);
  expect((await fetchOwn(output?.thumbnail_url ?? '')).headers.get('content-type')).toBe('image/webp');
});

test('a revoked link stops working immediately, a new link differs, and the audit log has both changes', async () => {
  const token = tokenOf(await share());
  const file = (await shown(token)).outputs[0]?.url ?? '';
  expect(await statusesOf(token, file)).toEqual([200, 200, 200]);
  const revoke = async () => (await server.send(shares.unshareGeneration, ...call())).status;
  expect([await revoke(), await revoke()]).toEqual([204, 204]);
  expect(await statusesOf(token, file)).toEqual([404, 404, 404]);
  const next = tokenOf(await share());
  expect(next).not.toBe(token);
  expect(await statusesOf(token, file)).toEqual([404, 404, 404]);
  const entries = await db
    .selectFrom('audit_log')
    .select(['action', 'detail'])
    .where('user_id', '=', ada.userId)
    .where('action', 'like', 'generation.%')
    .orderBy('id')
    .execute();
  const detail = { generation_id: id };
  expect(entries).toEqual(
    ['generation.shared', 'generation.unshared', 'generation.shared'].map((action) => ({ action, detail })),
  );
});

test('unknown, revoked and deleted links show the same page', async () => {
  const revoked = tokenOf(await share());
  await server.send(shares.unshareGeneration, ...call());
  const deleted = tokenOf(await share());
  await server.request(deleteGeneration, ...call());
  const forged = deleted.slice(0, -1) + (deleted.endsWith('A') ? 'B' : 'A');
  const answers = await Promise.all([revoked, deleted, forged, 'nothing'].map((token) => page(token)));
  expect(new Set(answers.map(({ statusCode, payload }) => `${statusCode} ${payload}`)).size).toBe(1);
  expect(answers[0]?.statusCode).toBe(404);
  expect(answers[0]?.payload).toContain('<title>Not found · Bakehouse</title>');
  expect(answers[0]?.payload).toContain('noindex');
  for (const token of [revoked, deleted, forged, 'nothing'])
    await expect(shown(token)).rejects.toThrow('This link does not work.');
});

test("deleting the maker's account ends the link", async () => {
  const token = tokenOf(await share());
  const file = (await shown(token)).outputs[0]?.url ?? '';
  const password = 'correct horse battery staple';
  await server.request(deleteAccount, { body: { password } }, { headers: { cookie: ada.cookie } });
  expect(await statusesOf(token, file)).toEqual([404, 404, 404]);
});

test('other users cannot create, see or revoke a link, and only completed generations can be shared', async () => {
  const token = tokenOf(await share());
  const bob = await server.signUp('Bob');
  for (const endpoint of [shares.shareGeneration, shares.getGenerationShare, shares.unshareGeneration])
    expect((await server.send(endpoint, { params: { id } }, { as: bob })).status).toBe(404);
  expect((await shown(token)).prompt).toBe(PROMPT);
  const failed = { userId: ada.userId, prompt: 'None', hasPicture: false };
  const none = await insertPicture(server.services, failed);
  await expect(
    server.request(shares.shareGeneration, { params: { id: none.id } }, { as: ada }),
  ).rejects.toThrow('This picture is not completed, so there is nothing to share');
});

test('the data export lists shared generations without their links', async () => {
  const token = tokenOf(await share());
  const answer = await server.send(exportData, {}, { headers: { cookie: ada.cookie } });
  const text = await answer.text();
  expect(JSON.parse(text).share_links).toEqual([{ generation_id: id, created_at: expect.any(String) }]);
  expect(text).not.toContain(token);
});

test('without a built web app the page returns 404', async () => {
  const token = tokenOf(await share());
  const html = await readFile(index, 'utf8');
  await rm(index);
  expect((await page(token)).statusCode).toBe(404);
  await writeFile(index, html);
});
