import { setTimeout as pause } from 'node:timers/promises';
import * as contract from '@bakehouse/contract/assets';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realPython } from '../../testing/real-python.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { createAsset } from '../assets/assets.ts';
import { assetCalls } from '../assets/testing/asset-calls.ts';
import { oneRunParquet } from './preview/testing/one-run-parquet.ts';

let server: TestServer;
let ada: TestUser;
let id: string;

beforeAll(async () => {
  server = await testServer({ config: realPython });
  ada = await server.signUp('Ada');
  id = await createAsset(
    {
      ...server.services,
      caller: { kind: 'user', userId: ada.userId, isOperator: false },
      requestId: 'test',
      idempotencyKey: null,
    },
    contract.assetCreatePayload.parse({ dataset_type: 'RAW', title: 'Hostile', user_id: ada.userId }),
  );
});

/**
 * Uploads the file and previews it. `turns` counts how often the server's event loop ran during the request.
 */
async function look(name: string, content: string | Buffer<ArrayBuffer>) {
  const form = new FormData();
  form.append('data_file', new Blob([content]), name);
  const headers = { 'x-api-key': ada.apiKey };
  await fetch(`${server.url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body: form });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const response = await server.send(
    contract.previewFile,
    { params: { id }, query: { path: name } },
    { as: ada },
  );
  const text = await response.text();
  clearInterval(timer);
  return { turns, status: response.status, bytes: text.length, answer: JSON.parse(text) };
}

describe('a file that is made to take long', () => {
  test('with 80,000 columns: shows the first ones and counts all', async () => {
    const columns = Array.from({ length: 80_000 }, (_, at) => `c${at}`);
    const { turns, status, bytes, answer } = await look('wide.csv', `${columns.join()}\n${columns.join()}\n`);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ column_count: 80_000, total_rows: 1 });
    expect(answer.columns).toEqual(columns.slice(0, 200));
    expect(answer.rows).toEqual([columns.slice(0, 200)]);
    expect(bytes).toBeLessThan(10_000);
    expect(turns).toBeGreaterThan(10);
  });

  test('with a new key on each of 80,000 lines', async () => {
    const lines = Array.from({ length: 80_000 }, (_, at) => `{"k${at}": 1}\n`).join('');
    const { turns, status, bytes, answer } = await look('keys.jsonl', lines);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ column_count: 80_000, total_rows: 80_000 });
    expect(answer.columns).toHaveLength(200);
    expect(bytes).toBeLessThan(150_000);
    expect(turns).toBeGreaterThan(10);
  });

  test('with 100,000,000 rows in 130 bytes of Parquet, and a true or false row count', async () => {
    const said = await look('said.parquet', oneRunParquet({ rows: 100_000_000, saidRows: 100_000_000 }));
    expect(said.answer).toMatchObject({ columns: ['a'], total_rows: 100_000_000 });
    expect(said.answer.rows).toHaveLength(100);
    const unsaid = await look('unsaid.parquet', oneRunParquet({ rows: 100_000_000, saidRows: 1000 }));
    expect([200, 400]).toContain(unsaid.status);
    expect(Math.min(said.turns, unsaid.turns)).toBeGreaterThan(10);
    const honest = await look('honest.parquet', oneRunParquet({ rows: 1000, saidRows: 1000 }));
    expect(honest.answer).toMatchObject({ columns: ['a'], total_rows: 1000 });
    expect(honest.answer.rows).toHaveLength(100);
  }, 90_000);

  test('truncates large cells and names, so that a page stays small', async () => {
    const name = 'n'.repeat(5000);
    const row = Object.fromEntries([
      [name, 'x'],
      ...Array.from({ length: 150 }, (_, at) => [`c${at}`, '🍞'.repeat(3000)]),
    ]);
    const { bytes, answer } = await look('fat.jsonl', `${JSON.stringify(row)}\n`.repeat(20));
    expect(answer.columns[0]).toBe(`${'n'.repeat(200)}…`);
    expect(answer.rows).toHaveLength(20);
    expect(answer.rows[0][1]).toMatch(/^🍞+…$/u);
    expect(bytes).toBeLessThan(2_200_000);
  });

  test('counts all unreadable rows but lists only the first', async () => {
    const { answer } = await look('broken.jsonl', 'x\n'.repeat(250));
    expect(answer).toMatchObject({ total_rows: 0, broken_count: 250 });
    expect(answer.broken).toHaveLength(100);
  });
});

test("limits a user's waiting previews, and never runs previews whose client has disconnected", async () => {
  const { sandbox } = server.services;
  const held = Promise.withResolvers<void>();
  const enclose = vi.fn<typeof sandbox.enclose>(async (program) => {
    await held.promise;
    return sandbox.enclose(program);
  });
  const query = { path: 'rows.csv' };
  const ask = (signal?: AbortSignal) =>
    server.send(contract.previewFile, { params: { id }, query }, { as: ada, ...(signal && { signal }) });
  const form = new FormData();
  form.append('data_file', new Blob(['a\n1\n']), 'rows.csv');
  const headers = { 'x-api-key': ada.apiKey };
  await fetch(`${server.url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body: form });

  // Read the profile now, so that the previews below use the stored one.
  await ask();
  Object.assign(server.services, { sandbox: { ...sandbox, enclose } });
  const leaving = new AbortController();
  // One preview runs, four wait, and the sixth is rejected.
  const six = Array.from({ length: 6 }, () => ask(leaving.signal));
  const refused = await Promise.race(six);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({
    error: { message: 'Several of your files are being read already. Try again when they are done.' },
  });
  leaving.abort();
  await Promise.allSettled(six);
  let waiting = ask();
  await vi.waitFor(async () => {
    const answered = await Promise.race([waiting, pause(1_000)]);
    if (answered) waiting = ask();
    expect(answered).toBeUndefined();
  }, 20_000);
  held.resolve();
  expect(await (await waiting).json()).toMatchObject({ columns: ['a'], total_rows: 1 });
  expect(enclose).toHaveBeenCalledTimes(2);
  Object.assign(server.services, { sandbox });
});

describe('the first read of a file', () => {
  const preview = (as: TestUser, asset: string, path: string) =>
    server.send(contract.previewFile, { params: { id: asset }, query: { path } }, { as });

  /** Replaces how confined programs are started, until the test ends. */
  function startWith(enclose: TestServer['services']['sandbox']['enclose']): () => void {
    const { sandbox } = server.services;
    const restore = () => void Object.assign(server.services, { sandbox });
    onTestFinished(restore);
    Object.assign(server.services, { sandbox: { ...sandbox, enclose } });
    return restore;
  }

  test('explains which limit was exceeded, and reads the file when the user tries again', async () => {
    await assetCalls(server).upload(ada, id, 'slow.csv', 'a\nslow\n');
    const restore = startWith(async () => ['/bin/sh', '-c', 'exit 137']);
    const refused = await preview(ada, id, 'slow.csv');
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: {
        message: 'slow.csv takes too much time or memory to be shown here. Download it to see its rows.',
      },
    });
    restore();
    expect(await (await preview(ada, id, 'slow.csv')).json()).toMatchObject({ rows: [['slow']] });
  });

  test('reads a file only once that takes too much time', async () => {
    await assetCalls(server).upload(ada, id, 'endless.csv', 'a\nendless\n');
    const enclose = vi.fn(async () => ['/bin/sh', '-c', 'kill -XCPU $$']);
    startWith(enclose);
    const answers = [await preview(ada, id, 'endless.csv'), await preview(ada, id, 'endless.csv')];
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: {
          param: 'path',
          message: 'endless.csv takes too much time or memory to be shown here. Download it to see its rows.',
        },
      });
    }
    expect(enclose).toHaveBeenCalledTimes(1);
  });

  test('reads a file only once whose content cannot be read', async () => {
    await assetCalls(server).upload(ada, id, 'nul.csv', 'a\0b\n1\n');
    const { sandbox } = server.services;
    const enclose = vi.fn(sandbox.enclose.bind(sandbox));
    startWith(enclose);
    const [first, second] = [await preview(ada, id, 'nul.csv'), await preview(ada, id, 'nul.csv')];
    expect([first.status, second.status]).toEqual([400, 400]);
    const error = { message: expect.stringMatching(/nul.csv is not UTF-8 text/) };
    for (const answer of [first, second]) expect(await answer.json()).toMatchObject({ error });
    expect(enclose).toHaveBeenCalledTimes(1);
  });

  test('reports that Python is not installed yet', async () => {
    await assetCalls(server).upload(ada, id, 'early.csv', 'a\nearly\n');
    const { config } = server.services;
    onTestFinished(() => void Object.assign(server.services, { config }));
    Object.assign(server.services, { config: { ...config, cacheDir: '/nonexistent' } });
    const refused = await preview(ada, id, 'early.csv');
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      error: {
        message: 'The Python environment is still being prepared. Please try again in a few minutes.',
      },
    });
    Object.assign(server.services, { config });
    expect((await preview(ada, id, 'early.csv')).status).toBe(200);
  });

  test("does not wait for another user's read of the same file", async () => {
    const bo = await server.signUp('Bo');
    const calls = assetCalls(server);
    const other = await calls.create(bo);
    await calls.upload(ada, id, 'same.csv', 'a\nsame\n');
    await calls.upload(bo, other, 'same.csv', 'a\nsame\n');
    const held = Promise.withResolvers<void>();
    const { sandbox } = server.services;
    let count = 0;
    startWith(async (program) => {
      count += 1;
      if (count === 1) await held.promise;
      return sandbox.enclose(program);
    });
    const first = preview(ada, id, 'same.csv');
    await vi.waitFor(() => expect(count).toBe(1));
    expect(await (await preview(bo, other, 'same.csv')).json()).toMatchObject({ rows: [['same']] });
    held.resolve();
    expect((await first).status).toBe(200);
  });
});
