import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { getMe } from '@bakehouse/contract/accounts';
import * as contract from '@bakehouse/contract/assets';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { type FakeClock, fakeClock } from '../../testing/fake-clock.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { createAsset } from './create-asset.ts';
import { createRevisionFromBlobs } from './create-revision-from-blobs.ts';
import { deleteAsset } from './delete-asset.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { readLineage } from './read-lineage.ts';
import { readRevision } from './read-revision.ts';
import { recordLineage } from './record-lineage.ts';
import { findStarterModel } from './starter/find-starter-model.ts';
import { registerStarterModel } from './starter/register-starter-model.ts';

let server: TestServer;
let clock: FakeClock;
let ada: TestUser;
let bob: TestUser;

beforeAll(async () => {
  clock = fakeClock();
  server = await testServer({ clock });
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

function contextOf(user: TestUser, idempotencyKey: string | null = null) {
  return {
    ...server.services,
    caller: { kind: 'user' as const, userId: user.userId, isOperator: false },
    requestId: 'test',
    idempotencyKey,
  };
}

function create(
  user: TestUser,
  words: Record<string, unknown> = {},
  idempotencyKey: string | null = null,
): Promise<string> {
  const payload = contract.assetCreatePayload.parse({
    dataset_type: 'RAW',
    title: 'Facts',
    user_id: user.userId,
    ...words,
  });
  return createAsset(contextOf(user, idempotencyKey), payload);
}

function upload(
  user: TestUser,
  id: string,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  part = 'data_file',
): Promise<Response> {
  const form = new FormData();
  form.append(part, new Blob([content]), name);
  return fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': user.apiKey },
    body: form,
  });
}

async function refusalOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

function get(user: TestUser, id: string) {
  return server.request(contract.getAsset, { params: { id } }, { as: user });
}

function download(
  user: TestUser,
  id: string,
  file: string,
  headers: Record<string, string> = {},
  query = {},
) {
  return server.send(contract.downloadFile, { params: { id, '*': file }, query }, { as: user, headers });
}

function preview(user: TestUser, id: string, file: string, query: { offset?: number; limit?: number } = {}) {
  return server.request(
    contract.previewFile,
    { params: { id }, query: { path: file, ...query } },
    { as: user },
  );
}

/** Files of the blob store, unfinished ones too. */
async function storedFiles(): Promise<string[]> {
  const entries = await readdir(path.join(server.services.config.dataDir, 'blobs'), {
    recursive: true,
    withFileTypes: true,
  });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

describe('creating', () => {
  test('answers the id, keeps every field and completes the onboarding step', async () => {
    const id = await create(ada, {
      category: 'Art',
      details: 'What we know',
      tags: ['a', 'b'],
      price: '1.5',
    });
    const asset = await get(ada, id);
    expect(asset).toMatchObject({
      dataset_id: id,
      dataset_type: 'RAW',
      title: 'Facts',
      category: 'Art',
      details: 'What we know',
      tags: ['a', 'b'],
      price: '1.5',
      user_id: ada.userId,
      owner_username: 'ada-1',
      is_starter: false,
      starter_task: null,
      revision_id: null,
      file_count: 0,
      files: [],
      card: null,
      lineage: null,
    });
    const me = await server.request(getMe, {}, { as: ada });
    expect(me.onboarding.steps).toMatchObject({
      create_dataset: { completed: true },
      create_model: { completed: false },
    });
  });

  test('the same title makes another asset; the same Idempotency-Key does not', async () => {
    const [first, second] = [await create(ada, { title: 'Twice' }), await create(ada, { title: 'Twice' })];
    expect(first).not.toBe(second);
    const key = randomBytes(8).toString('hex');
    const [one, same] = await Promise.all([create(ada, {}, key), create(ada, {}, key)]);
    expect(one).toBe(same);
    await expect(create(ada, { title: 'Other' }, key)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('a parent must be readable', async () => {
    const secret = await create(bob);
    await expect(create(ada, { parent_dataset_id: secret })).rejects.toMatchObject({ code: 'not_found' });
    expect((await get(ada, await create(ada, { parent_dataset_id: '' }))).parent_dataset_id).toBeNull();
  });
});

describe('uploading', () => {
  test('shows the file in a new revision, and the same bytes again change nothing', async () => {
    const id = await create(ada);
    const first = await upload(ada, id, 'facts.csv', 'q,a\n1,2\n');
    expect(first.status).toBe(200);
    const answer = (await first.json()) as { file: object; revision_id: string };
    expect(answer.file).toMatchObject({ path: 'facts.csv', size_bytes: 8, sha256: sha256('q,a\n1,2\n') });
    expect(await get(ada, id)).toMatchObject({
      file_count: 1,
      size_bytes: 8,
      revision_id: answer.revision_id,
    });

    const again = (await (await upload(ada, id, 'facts.csv', 'q,a\n1,2\n')).json()) as {
      revision_id: string;
    };
    expect(again.revision_id).toBe(answer.revision_id);
  });

  test('the same name replaces the file; the earlier revision keeps it', async () => {
    const id = await create(ada);
    const { revision_id: before } = (await (await upload(ada, id, 'a.txt', 'one')).json()) as {
      revision_id: string;
    };
    await upload(ada, id, 'b.txt', 'bee');
    await upload(ada, id, 'a.txt', 'three');
    const asset = await get(ada, id);
    expect(asset).toMatchObject({ file_count: 2, size_bytes: 8 });
    expect(asset.files.map((file) => [file.path, file.size_bytes])).toEqual([
      ['a.txt', 5],
      ['b.txt', 3],
    ]);
    expect(await (await download(ada, id, 'a.txt')).text()).toBe('three');
    expect(await (await download(ada, id, 'a.txt', {}, { revision_id: before })).text()).toBe('one');
    expect((await download(ada, id, 'b.txt', {}, { revision_id: before })).status).toBe(404);
    const old = await readRevision(server.services.db, {
      assetId: id,
      revisionId: before,
      userId: ada.userId,
    });
    expect(old.files.map((file) => file.path)).toEqual(['a.txt']);
    expect(old.revision.number).toBe(1);
  });

  test('many at once end up in as many revisions', async () => {
    const id = await create(ada);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => upload(ada, id, `${at}.txt`, `file ${at}`)),
    );
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect(await get(ada, id)).toMatchObject({ file_count: 12, size_bytes: 10 * 6 + 2 * 7 });
    const newest = await readRevision(server.services.db, { assetId: id, userId: ada.userId });
    expect(newest.revision.number).toBe(12);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['Zu\u0308rich ✓.csv', 'Zürich ✓.csv'],
  ])('%j is kept as %j', async (sent, kept) => {
    const id = await create(ada);
    expect((await upload(ada, id, sent, 'x')).status).toBe(200);
    expect((await get(ada, id)).files.map((file) => file.path)).toEqual([kept]);
    expect(await (await download(ada, id, kept)).text()).toBe('x');
  });

  test('what cannot be a file is refused and leaves nothing', async () => {
    const id = await create(ada);
    const before = await storedFiles();
    expect(await refusalOf(await upload(ada, id, '..', 'x'))).toMatchObject({
      status: 400,
      message: 'The file needs a name',
    });
    expect(await refusalOf(await upload(ada, id, 'empty.csv', ''))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: 'empty.csv is empty',
    });
    expect(await refusalOf(await upload(ada, id, 'a.csv', 'x', 'file'))).toMatchObject({
      status: 400,
      message: 'Send the file in a part named data_file',
    });
    const two = new FormData();
    two.append('data_file', new Blob(['one']), 'one.txt');
    two.append('data_file', new Blob(['two']), 'two.txt');
    const both = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': ada.apiKey },
      body: two,
    });
    expect(await refusalOf(both)).toMatchObject({ status: 400, message: 'Send one file per request' });
    const json = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': ada.apiKey, 'content-type': 'application/json' },
      body: '{}',
    });
    const raw = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': ada.apiKey, 'content-type': 'text/csv' },
      body: 'question,answer',
    });
    for (const answer of [json, raw]) {
      expect(await refusalOf(answer)).toMatchObject({
        status: 415,
        message: 'Send the file as multipart/form-data, in a part named data_file',
      });
    }
    expect(await get(ada, id)).toMatchObject({ files: [], revision_id: null });
    expect(await storedFiles()).toEqual(before);
  });

  test('one byte more than 500 MB is refused, said beforehand or not, and leaves nothing', async () => {
    const id = await create(ada);
    const before = await storedFiles();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const boundary = 'cut-here';
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="data_file"; filename="big.bin"\r\n\r\n`;
    const body = () =>
      Readable.toWeb(
        Readable.from(
          (async function* () {
            yield Buffer.from(head);
            for (let sent = 0; sent < FILE_SIZE_LIMIT_BYTES; sent += piece.length) yield piece;
            yield Buffer.from(`x\r\n--${boundary}--\r\n`);
          })(),
        ),
      ) as ReadableStream;
    const response = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': ada.apiKey, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: body(),
      duplex: 'half',
    });
    expect(await refusalOf(response)).toEqual({
      status: 413,
      code: 'payload_too_large',
      message: 'File size exceeds 500MB limit',
    });

    const told = await rawRequest(
      `POST /api/v1/asset/${id}/upload HTTP/1.1\r\nhost: x\r\nx-api-key: ${ada.apiKey}\r\n` +
        `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: ${FILE_SIZE_LIMIT_BYTES + 100_000}\r\n\r\n${head}`,
    );
    expect(told).toContain('413');
    expect(told).toContain('File size exceeds 500MB limit');
    expect((await get(ada, id)).files).toEqual([]);
    expect(await storedFiles()).toEqual(before);
  }, 180_000);

  test('a refused one is read to its end, so that the connection does not stand still', async () => {
    const id = await create(ada);
    const boundary = 'cut-here';
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="data_file"; filename=".."\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(head),
      Buffer.alloc(20_000_000, 'x'),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.resume();
    const isTaken = new Promise<boolean>((resolve, reject) => {
      socket.on('error', reject);
      socket.write(
        `POST /api/v1/asset/${id}/upload HTTP/1.1\r\nhost: x\r\nx-api-key: ${ada.apiKey}\r\n` +
          `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: ${body.length}\r\n\r\n`,
      );
      socket.write(body, () => resolve(true));
    });
    expect(await isTaken).toBe(true);
    socket.destroy();
  });

  test('cut anywhere it leaves nothing', async () => {
    const id = await create(ada);
    const before = await storedFiles();
    const boundary = 'cut-here';
    const content = randomBytes(300_000).toString('hex');
    const body = `--${boundary}\r\ncontent-disposition: form-data; name="data_file"; filename="cut.txt"\r\n\r\n${content}\r\n--${boundary}--\r\n`;
    const head =
      `POST /api/v1/asset/${id}/upload HTTP/1.1\r\nhost: x\r\nx-api-key: ${ada.apiKey}\r\n` +
      `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: ${body.length}\r\n\r\n`;
    const ends = [0, 10, 90, 101, 5_000, 300_000, content.length, body.length - 20, body.length - 1];
    for (const end of ends) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      await new Promise((resolve) => socket.write(head + body.slice(0, end), resolve));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
    }
    await expect.poll(storedFiles, { timeout: 5_000 }).toEqual(before);
    expect((await get(ada, id)).files).toEqual([]);
    expect((await upload(ada, id, 'cut.txt', content)).status).toBe(200);
  });

  test('unsafe and damaged weights are refused', async () => {
    const id = await create(ada, { dataset_type: 'MODEL', title: 'Weights' });
    expect(await refusalOf(await upload(ada, id, 'm.bin', 'cos\nsystem\n.'))).toEqual({
      status: 400,
      code: 'invalid_request',
      message:
        'm.bin is not accepted: it holds Python pickles, which can run code where they are loaded; ' +
        'save the weights as safetensors.',
    });
    // In a dataset the same bytes are data.
    expect((await upload(ada, await create(ada), 'm.bin', 'cos\nsystem\n.')).status).toBe(200);
    expect((await refusalOf(await upload(ada, id, 'm.safetensors', 'too short'))).message).toContain(
      'm.safetensors is damaged',
    );
    expect((await refusalOf(await upload(ada, id, 'm.gguf', 'GGUF'))).message).toContain('m.gguf is damaged');
    expect((await get(ada, id)).files).toEqual([]);
  });
});

function rawRequest(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.includes('}}')) socket.destroy();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

test('every change is announced to the owner, and to nobody else', async () => {
  const heard: string[] = [];
  const stop = [ada, bob].map((user) =>
    server.services.events.subscribe(user.userId, (event) =>
      heard.push(`${user === ada ? 'ada' : 'bob'} ${event.topic} ${event.id}`),
    ),
  );
  const hears = async (change: Promise<unknown>) => {
    const before = heard.length;
    const answer = await change;
    await expect.poll(() => heard.length).toBeGreaterThan(before);
    return answer;
  };
  const id = (await hears(create(ada))) as string;
  await hears(upload(ada, id, 'a.txt', 'x'));
  await hears(
    server.request(contract.updateAsset, { params: { id }, body: { title: 'Other' } }, { as: ada }),
  );
  await hears(server.send(contract.deleteAsset, { params: { id } }, { as: ada }));
  expect(new Set(heard)).toEqual(new Set([`ada asset ${id}`]));
  for (const end of stop) end();
});

describe('downloading', () => {
  let id: string;
  beforeAll(async () => {
    id = await create(ada);
    await upload(ada, id, 'ten ü.txt', '0123456789');
  });

  test('gives the bytes with a name, a length and an ETag', async () => {
    const response = await download(ada, id, 'ten ü.txt');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('0123456789');
    expect(response.headers.get('content-length')).toBe('10');
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(response.headers.get('etag')).toBe(`"${sha256('0123456789')}"`);
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''ten%20%C3%BC.txt");
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('honours Range, If-Range and If-None-Match', async () => {
    const middle = await download(ada, id, 'ten ü.txt', { range: 'bytes=3-5' });
    expect([middle.status, await middle.text(), middle.headers.get('content-range')]).toEqual([
      206,
      '345',
      'bytes 3-5/10',
    ]);
    const tail = await download(ada, id, 'ten ü.txt', { range: 'bytes=-2' });
    expect([tail.status, await tail.text()]).toEqual([206, '89']);
    const behind = await download(ada, id, 'ten ü.txt', { range: 'bytes=10-' });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const changed = await download(ada, id, 'ten ü.txt', { range: 'bytes=3-5', 'if-range': '"other"' });
    expect([changed.status, await changed.text()]).toEqual([200, '0123456789']);
    const known = await download(ada, id, 'ten ü.txt', { 'if-none-match': `"${sha256('0123456789')}"` });
    expect([known.status, await known.text()]).toEqual([304, '']);
  });

  test('HEAD tells the size without the bytes', async () => {
    const response = await fetch(`${server.url}/api/v1/asset/${id}/files/ten%20%C3%BC.txt`, {
      method: 'HEAD',
      headers: { 'x-api-key': ada.apiKey },
    });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      200,
      '10',
      '',
    ]);
  });

  test('knows no other files', async () => {
    expect((await download(ada, id, 'other.txt')).status).toBe(404);
    expect((await download(ada, id, '../../../etc/passwd')).status).toBe(404);
  });
});

describe('previewing', () => {
  let id: string;
  beforeAll(async () => {
    id = await create(ada);
  });

  test('csv: a page, all counted, broken rows named', async () => {
    const rows = Array.from({ length: 250 }, (_, at) => (at === 5 ? 'only one' : `q${at},"a ${at}"`));
    await upload(ada, id, 'd.csv', `question,answer\n${rows.join('\n')}\n`);
    const page = await preview(ada, id, 'd.csv', { offset: 100, limit: 2 });
    expect(page).toEqual({
      columns: ['question', 'answer'],
      rows: [
        ['q101', 'a 101'],
        ['q102', 'a 102'],
      ],
      column_count: 2,
      total_rows: 249,
      broken: [{ line: 7, reason: '1 field instead of 2' }],
      broken_count: 1,
      format: {
        format: 'prompt_completion',
        input_column: 'question',
        output_column: 'answer',
        system_column: null,
      },
      conversations: [],
    });
  });

  test('jsonl, json and txt', async () => {
    await upload(
      ada,
      id,
      'd.jsonl',
      '{"q": "one", "n": 1.5, "ok": true}\n{"q": "two", "m": [{"role": "user"}]}\nbroken\n',
    );
    expect(await preview(ada, id, 'd.jsonl')).toMatchObject({
      columns: ['q', 'n', 'ok', 'm'],
      rows: [
        ['one', 1.5, true, null],
        ['two', null, null, '[{"role":"user"}]'],
      ],
      total_rows: 2,
      broken: [{ line: 3 }],
    });
    await upload(ada, id, 'd.json', '[{"a": 1}, {"a": null}]');
    expect(await preview(ada, id, 'd.json')).toEqual({
      columns: ['a'],
      column_count: 1,
      rows: [[1], [null]],
      total_rows: 2,
      broken: [],
      broken_count: 0,
      format: null,
      conversations: [],
    });
    await upload(ada, id, 'd.txt', `first\n${'x'.repeat(3000)}\n`);
    const text = await preview(ada, id, 'd.txt');
    expect(text.rows[0]).toEqual(['first']);
    expect(text.rows[1]?.[0]).toHaveLength(2001);
  });

  test('parquet', async () => {
    const { readFile } = await import('node:fs/promises');
    const bytes = await readFile(path.join(import.meta.dirname, 'preview/fixtures/zstd.parquet'));
    await upload(ada, id, 'd.parquet', new Uint8Array(bytes));
    expect(await preview(ada, id, 'd.parquet', { offset: 1, limit: 2 })).toEqual({
      columns: ['id', 'text', 'score', 'at', 'tags', 'raw'],
      rows: [
        [2, 'two', 'NaN', '2026-01-02T03:04:05.000Z', '[]', expect.anything()],
        [3, null, 1.5, '2026-01-02T03:04:05.000Z', '["c"]', expect.anything()],
      ],
      column_count: 6,
      total_rows: 6,
      broken: [],
      broken_count: 0,
      format: null,
      conversations: [],
    });
  });

  test('a large file is read no further than asked and not counted', async () => {
    await upload(ada, id, 'large.csv', `a,b\n${'1,some text that fills the line\n'.repeat(600_000)}`);
    const page = await preview(ada, id, 'large.csv', { limit: 3 });
    expect(page.rows).toHaveLength(3);
    expect(page.total_rows).toBeNull();
  });

  test('other files, other encodings and unknown names are refused', async () => {
    await upload(ada, id, 'latin.csv', Uint8Array.from(Buffer.from('a,b\nfür,1\n', 'latin1')));
    await expect(preview(ada, id, 'latin.csv')).rejects.toThrow(
      'latin.csv is not UTF-8 text: line 2 is in another encoding. Save it as UTF-8 and upload it again.',
    );
    await upload(ada, id, 'picture.png', 'not really');
    await expect(preview(ada, id, 'picture.png')).rejects.toMatchObject({ status: 400 });
    await upload(ada, id, 'bad.parquet', 'not really');
    await expect(preview(ada, id, 'bad.parquet')).rejects.toThrow('bad.parquet cannot be read as Parquet');
    await expect(preview(ada, id, 'none.csv')).rejects.toMatchObject({ status: 404 });
  });
});

describe('listing', () => {
  let cy: TestUser;
  beforeAll(async () => {
    cy = await server.signUp('Cy');
    for (const [title, size, tags] of [
      ['Beta', 30, ['red']],
      ['alpha', 10, []],
      ['Gamma 100%', 20, ['Blue']],
    ] as const) {
      const id = await create(cy, { title, tags });
      await upload(cy, id, 'a.txt', 'x'.repeat(size));
    }
    await create(cy, { dataset_type: 'MODEL', title: 'A model' });
  });

  const list = (query: object) =>
    server.request(contract.listAssets, { query: { types: 'RAW', owner: cy.userId, ...query } }, { as: cy });
  const titles = async (query: object) => (await list(query)).datasets.map((asset) => asset.title);

  test('sorts by last change, title or size', async () => {
    expect(await titles({})).toEqual(['Gamma 100%', 'alpha', 'Beta']);
    expect(await titles({ sort: 'title' })).toEqual(['alpha', 'Beta', 'Gamma 100%']);
    expect(await titles({ sort: 'size' })).toEqual(['Beta', 'Gamma 100%', 'alpha']);
    expect(await titles({ types: 'MODEL' })).toEqual(['A model']);
  });

  test('answers what older clients ask for', async () => {
    expect(await titles({ is_new_only: true })).toEqual(['Gamma 100%', 'alpha', 'Beta']);
    expect(await list({ types: 'VECTOR' })).toEqual({ datasets: [], next_cursor: null });
    await server.services.db
      .insertInto('assets')
      .values({
        owner_user_id: cy.userId,
        dataset_type: 'VECTOR',
        title: 'An index',
        category: '',
        details: '',
      })
      .execute();
    expect(await titles({ types: 'VECTOR' })).toEqual(['An index']);
  });

  test('pages through each order without loss', async () => {
    for (const sort of ['updated', 'title', 'size'] as const) {
      const all = await titles({ sort });
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list({ sort, limit: 1, ...(cursor && { cursor }) });
        paged.push(...page.datasets.map((asset) => asset.title));
        cursor = page.next_cursor ?? undefined;
      } while (cursor);
      expect(paged).toEqual(all);
    }
    const { next_cursor } = await list({ sort: 'size', limit: 1 });
    await expect(list({ sort: 'title', cursor: next_cursor })).rejects.toMatchObject({ status: 400 });
    await expect(list({ cursor: 'made-up' })).rejects.toMatchObject({ status: 400 });
  });

  test('searches titles, tags and ids, letter case and wildcards aside', async () => {
    expect(await titles({ search: 'ALPH' })).toEqual(['alpha']);
    expect(await titles({ search: 'blue' })).toEqual(['Gamma 100%']);
    expect(await titles({ search: '0%' })).toEqual(['Gamma 100%']);
    expect(await titles({ search: '%' })).toEqual(['Gamma 100%']);
    expect(await titles({ search: '_' })).toEqual([]);
    const [first] = (await list({})).datasets;
    expect(await titles({ search: first?.dataset_id })).toEqual([first?.title]);
  });
});

describe('changing and deleting', () => {
  test('changes words, with a model’s name rule', async () => {
    const id = await create(ada, { dataset_type: 'MODEL', title: 'Model one' });
    const update = (body: object) =>
      server.request(contract.updateAsset, { params: { id }, body }, { as: ada });
    expect(await update({ details: 'New words', tags: ['t'] })).toMatchObject({
      title: 'Model one',
      details: 'New words',
      tags: ['t'],
    });
    await expect(update({ title: 'abc' })).rejects.toThrow('Model name must have at least 4 characters');
  });

  test('removes one file in a new revision', async () => {
    const id = await create(ada);
    const { revision_id: before } = (await (await upload(ada, id, 'a.txt', 'one')).json()) as {
      revision_id: string;
    };
    const remove = (file_path: string) =>
      server.request(contract.deleteFile, { params: { id }, body: { file_path } }, { as: ada });
    expect((await remove('a.txt')).revision_id).not.toBe(before);
    expect(await get(ada, id)).toMatchObject({ files: [], file_count: 0, size_bytes: 0 });
    expect(await (await download(ada, id, 'a.txt', {}, { revision_id: before })).text()).toBe('one');
    await expect(remove('a.txt')).rejects.toMatchObject({ status: 404 });
    await expect(remove('')).rejects.toThrow('Missing required parameters for file deletion');
  });

  test('the bytes of a deleted asset go unless another one has them', async () => {
    const [first, second] = [await create(ada), await create(ada)];
    const [own, shared] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')];
    await upload(ada, first, 'own.txt', own);
    await upload(ada, first, 'shared.txt', shared);
    await upload(ada, second, 'shared.txt', shared);
    expect((await server.send(contract.deleteAsset, { params: { id: first } }, { as: ada })).status).toBe(
      204,
    );
    await expect(get(ada, first)).rejects.toMatchObject({ status: 404 });

    const collect = () => collectBlobsJob.run(server.services, {}, AbortSignal.timeout(10_000));
    await collect();
    expect(await storedFiles()).toContain(sha256(own).slice(2));
    clock.advance({ hours: 2 });
    await collect();
    expect(await storedFiles()).not.toContain(sha256(own).slice(2));
    expect(await (await download(ada, second, 'shared.txt')).text()).toBe(shared);
    expect((await upload(ada, second, 'own.txt', own)).status).toBe(200);
    expect(await (await download(ada, second, 'own.txt')).text()).toBe(own);
  });

  test('what is in use stays', async () => {
    const id = await create(ada);
    const findUses = [async () => 'The run Facts uses this dataset'];
    await expect(deleteAsset(contextOf(ada), { assetId: id, findUses })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The run Facts uses this dataset',
    });
    expect((await get(ada, id)).dataset_id).toBe(id);
  });
});

test('an uploaded model says what it can be used for, and which file is missing', async () => {
  const id = await create(ada, { dataset_type: 'MODEL', title: 'Uploaded' });
  const readiness = () => server.request(contract.getModelReadiness, { params: { id } }, { as: ada });
  expect(await readiness()).toEqual({
    deploy: 'Uploaded has no files yet',
    train: 'Uploaded has no files yet',
  });
  await upload(ada, id, 'letter.docx', 'PK\x03\x04text');
  expect(await readiness()).toEqual({
    deploy: 'Uploaded has no GGUF file, so it cannot be served here',
    train: 'Uploaded has no safetensors weights to train on',
  });
  const header = '{"__metadata__":{}}';
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await upload(ada, id, 'model.safetensors', Buffer.concat([length, Buffer.from(header)]));
  expect((await readiness()).train).toBe('Uploaded has no config.json, which describes its architecture');
  await upload(ada, id, 'config.json', '{}');
  expect((await readiness()).train).toBe('Uploaded has no tokenizer.json');
  await upload(ada, id, 'tokenizer.json', '{}');
  const empty = Buffer.alloc(24);
  empty.write('GGUF');
  empty.writeUInt32LE(3, 4);
  await upload(ada, id, 'model.gguf', empty);
  expect(await readiness()).toEqual({ deploy: null, train: null });
  const dataset = await create(ada);
  expect(await server.request(contract.getModelReadiness, { params: { id: dataset } }, { as: ada })).toEqual({
    deploy: 'Facts is a dataset',
    train: 'Facts is a dataset',
  });
});

test('price and publication can be changed, and what cannot be is refused by name', async () => {
  const id = await create(ada);
  const update = (body: object) =>
    server.request(contract.updateAsset, { params: { id }, body }, { as: ada });
  const changed = await update({ price: '2.5', is_published: true, user_id: ada.userId });
  expect(changed).toMatchObject({ price: '2.5', is_published: true, title: 'Facts' });
  await expect(update({ title: 'Other', dimensions: 3, embedding_model: 'x' })).rejects.toThrow(
    'These cannot be changed: dimensions, embedding_model',
  );
  expect((await get(ada, id)).title).toBe('Facts');
});

test('a model stays while others are made from it', async () => {
  const base = await create(ada, { dataset_type: 'MODEL', title: 'A base' });
  const source = (assetId: string) => ({ assetId, revisionId: assetId, title: 'Kept' });
  const tuned: string[] = [];
  for (const title of ['Tuned one', 'Tuned two', 'Tuned three', 'Tuned four', 'Tuned five']) {
    const assetId = await create(ada, { dataset_type: 'MODEL', title });
    const lineage = { assetId, runId: assetId, base: source(base), dataset: source(assetId) };
    await server.services.db.transaction().execute((tx) => recordLineage(tx, lineage));
    tuned.push(assetId);
  }
  const remove = async (id: string) => server.send(contract.deleteAsset, { params: { id } }, { as: ada });
  expect(await refusalOf(await remove(base))).toEqual({
    status: 409,
    code: 'conflict',
    message:
      "'Tuned one', 'Tuned two', 'Tuned three' and 2 more were fine-tuned from it and cannot work without it. " +
      'Delete these models first.',
  });
  for (const id of tuned.slice(1)) expect((await remove(id)).status).toBe(204);
  expect((await refusalOf(await remove(base))).message).toBe(
    "'Tuned one' was fine-tuned from it and cannot work without it. Delete that model first.",
  );
  expect((await remove(tuned[0] ?? '')).status).toBe(204);
  expect((await remove(base)).status).toBe(204);
});

test('a card, a folder and the size of an asset can be read', async () => {
  const id = await create(ada, { dataset_type: 'MODEL', title: 'With a card' });
  const store = (content: string) => storeBlob(server.services, Readable.from([Buffer.from(content)]));
  const files = [
    { path: 'README.md', ...(await store('# Card ✓')) },
    { path: 'adapter/config.json', ...(await store('{}')) },
    { path: 'adapter/model.bin', ...(await store('weights')) },
  ];
  const create1 = () =>
    server.services.db.transaction().execute((tx) => createRevisionFromBlobs(tx, { assetId: id, files }));
  const { revisionId } = await create1();
  expect(await create1()).toEqual({ revisionId });
  expect((await get(ada, id)).card).toBe('# Card ✓');
  const info = (query: object) => server.request(contract.assetInfo, { params: { id }, query }, { as: ada });
  expect((await info({ path: '/adapter/' })).files.map((file) => file.path)).toEqual([
    'adapter/config.json',
    'adapter/model.bin',
  ]);
  expect(await info({})).toMatchObject({ path: '', size_bytes: 10 + 2 + 7 });
  expect((await info({ path: 'README.md' })).files).toHaveLength(1);
  await expect(info({ path: 'adapt' })).rejects.toMatchObject({ status: 404 });
  expect(await (await download(ada, id, 'adapter/config.json')).text()).toBe('{}');

  const next = await server.services.db
    .transaction()
    .execute((tx) => createRevisionFromBlobs(tx, { assetId: id, files: files.slice(0, 2) }));
  expect(next.revisionId).not.toBe(revisionId);
  expect((await get(ada, id)).files.map((file) => file.path)).toEqual(['README.md', 'adapter/config.json']);
  const stray = { assetId: id, files: [{ path: '../x', sha256: sha256(''), sizeBytes: 0 }] };
  await expect(
    server.services.db.transaction().execute((tx) => createRevisionFromBlobs(tx, stray)),
  ).rejects.toThrow('Not a path');
  const unknown = { assetId: id, files: [{ path: 'x', sha256: sha256('never stored'), sizeBytes: 12 }] };
  await expect(
    server.services.db.transaction().execute((tx) => createRevisionFromBlobs(tx, unknown)),
  ).rejects.toThrow('The blob store does not hold');
});

test('lineage is kept with the titles of its time', async () => {
  const [model, base, data] = [
    await create(ada, { dataset_type: 'MODEL', title: 'Tuned' }),
    await create(ada),
    await create(ada),
  ];
  const source = (assetId: string, title: string) => ({
    assetId,
    revisionId: '019aa000-0000-7000-8000-000000000001',
    title,
  });
  const lineage = {
    assetId: model,
    runId: '019aa000-0000-7000-8000-000000000000',
    base: source(base, 'Base'),
    dataset: source(data, 'Data'),
  };
  await server.services.db.transaction().execute((tx) => recordLineage(tx, lineage));
  expect((await get(ada, model)).lineage).toMatchObject({
    run_id: lineage.runId,
    base_model: { dataset_id: base, title: 'Base' },
    dataset: { dataset_id: data, title: 'Data' },
  });
  expect(await readLineage(server.services.db, { assetId: base })).toBeNull();
});

test('others see nothing of an asset, whatever they try', async () => {
  const id = await create(ada);
  await upload(ada, id, 'a.csv', 'a,b\n1,2\n');
  const params = { id };
  const attempts = [
    server.send(contract.getAsset, { params }, { as: bob }),
    server.send(contract.updateAsset, { params, body: { title: 'Mine now' } }, { as: bob }),
    server.send(contract.deleteAsset, { params }, { as: bob }),
    server.send(contract.downloadFile, { params: { id, '*': 'a.csv' }, query: {} }, { as: bob }),
    server.send(contract.deleteFile, { params, body: { file_path: 'a.csv' } }, { as: bob }),
    server.send(contract.assetInfo, { params, query: {} }, { as: bob }),
    server.send(contract.previewFile, { params, query: { path: 'a.csv' } }, { as: bob }),
    upload(bob, id, 'a.csv', 'mine'),
  ];
  const absent = await server.send(
    contract.getAsset,
    { params: { id: '019aa000-0000-7000-8000-000000000002' } },
    { as: bob },
  );
  const { message } = await refusalOf(absent);
  for (const response of await Promise.all(attempts)) {
    expect(await refusalOf(response)).toEqual({ status: 404, code: 'not_found', message });
  }
  await expect(
    server.request(contract.listAssets, { query: { types: 'RAW', owner: ada.userId } }, { as: bob }),
  ).rejects.toMatchObject({ status: 403 });
  await expect(readRevision(server.services.db, { assetId: id, userId: bob.userId })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect((await get(ada, id)).title).toBe('Facts');
});

describe('a starter model', () => {
  const model = (localPath: string) => ({
    slug: 'tiny',
    task: 'text' as const,
    title: 'Tiny model',
    details: 'Small',
    category: 'Artificial intelligence',
    tags: ['starter'],
    files: [{ path: 'README.md', localPath }],
  });

  test('is read by everybody and changed by nobody, and registering again changes nothing', async () => {
    const local = path.join(import.meta.dirname, 'routes.ts');
    const first = await registerStarterModel(server.services, model(local));
    const [again, third] = await Promise.all(
      [1, 2].map(() => registerStarterModel(server.services, model(local))),
    );
    expect([again, third]).toEqual([first, first]);

    for (const user of [ada, bob]) {
      expect(await get(user, first.assetId)).toMatchObject({
        is_starter: true,
        starter_task: 'text',
        user_id: null,
        owner_username: 'bakehouse',
        file_count: 1,
      });
      expect((await download(user, first.assetId, 'README.md')).status).toBe(200);
      const { datasets } = await server.request(
        contract.listAssets,
        { query: { types: 'MODEL', owner: user.userId, include_starter: 'true' } },
        { as: user },
      );
      expect(datasets.map((asset) => asset.dataset_id)).toContain(first.assetId);
      const change = server.request(
        contract.updateAsset,
        { params: { id: first.assetId }, body: { title: 'Mine' } },
        { as: user },
      );
      await expect(change).rejects.toMatchObject({ status: 403 });
      expect((await upload(user, first.assetId, 'a.txt', 'x')).status).toBe(403);
      expect(
        (await server.send(contract.deleteAsset, { params: { id: first.assetId } }, { as: user })).status,
      ).toBe(403);
    }
    expect(await findStarterModel(server.services.db, 'tiny')).toMatchObject({
      assetId: first.assetId,
      title: 'Tiny model',
    });

    const changed = await registerStarterModel(server.services, model(import.meta.filename));
    expect(changed.assetId).toBe(first.assetId);
    expect(changed.revisionId).not.toBe(first.revisionId);
  });
});

test('numbers kept with assets are the sums of their files', async () => {
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a left join asset_files f on f.asset_id = a.id and f.last_number is null
    group by a.id having a.file_count <> count(f.path) or a.size_bytes <> coalesce(sum(f.size_bytes), 0)`.execute(
    server.services.db,
  );
  expect(rows).toEqual([]);
});
