import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { beforeAll, describe, expect, test } from 'vitest';
import { isSoak } from '../../../../testing/soak.ts';
import { type TestUser, testServer } from '../../../../testing/test-server.ts';
import { readRevision } from '../../read-revision.ts';
import { assetCalls, refusalOf, sha256 } from '../../testing/asset-calls.ts';

const server = await testServer();
const { create, upload, get, download, storedFiles } = assetCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
});

describe('an upload', () => {
  test('adds the file in a new revision, and changes nothing for identical bytes', async () => {
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

  test('replaces a file with the same name; the earlier revision has the old one', async () => {
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

  test('creates one revision per concurrent upload', async () => {
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
  ])('stores %j as %j', async (sent, kept) => {
    const id = await create(ada);
    expect((await upload(ada, id, sent, 'x')).status).toBe(200);
    expect((await get(ada, id)).files.map((file) => file.path)).toEqual([kept]);
    expect(await (await download(ada, id, kept)).text()).toBe('x');
  });

  test('rejects invalid files and leaves nothing', async () => {
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

  test('rejects one byte more than 500 MB, announced or not, and leaves nothing', async () => {
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
    // Only the soak test sends 500 MB. The fast tests cover the limit in upload-limits.test.ts with a lower
    // limit.
    if (isSoak) {
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
    }

    const answer = await rawRequest(
      `POST /api/v1/asset/${id}/upload HTTP/1.1\r\nhost: x\r\nx-api-key: ${ada.apiKey}\r\n` +
        `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: ${FILE_SIZE_LIMIT_BYTES + 100_000}\r\n\r\n${head}`,
    );
    expect(answer).toContain('413');
    expect(answer).toContain('File size exceeds 500MB limit');
    expect((await get(ada, id)).files).toEqual([]);
    expect(await storedFiles()).toEqual(before);
  }, 180_000);

  test('reads a rejected upload to its end, so that the connection does not stall', async () => {
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

  test('leaves nothing if it is truncated anywhere', async () => {
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
    await expect.poll(storedFiles).toEqual(before);
    expect((await get(ada, id)).files).toEqual([]);
    expect((await upload(ada, id, 'cut.txt', content)).status).toBe(200);
  });

  test('rejects unsafe and damaged weights', async () => {
    const id = await create(ada, { dataset_type: 'MODEL', title: 'Weights' });
    expect(await refusalOf(await upload(ada, id, 'm.bin', 'cos\nsystem\n.'))).toEqual({
      status: 400,
      code: 'invalid_request',
      message:
        'm.bin is not accepted: it holds Python pickles, which can run code where they are loaded; ' +
        'save the weights as safetensors.',
    });
    // The same bytes are data in a dataset.
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
