import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Client, Settings } from 'bagelml';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { emptySafetensors, goodData } from '../../modules/fine-tuning/testing/test-run.ts';
import { callBagelml } from '../../testing/bagelml/call-bagelml.ts';
import { realPython } from '../../testing/real-python.ts';
import { isSoak } from '../../testing/soak.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';

/*
 * Runs the original product's two published clients against the real server. Each supported call must work,
 * and all others must fail with a plain sentence. The methods ping and get_version of the npm client can
 * never work: they read `response.data` of a fetch response, which does not exist.
 */

const server = await testServer({ config: realPython, readData: async () => goodData });
const folder = await temporaryFolder();
const rows = path.join(folder, 'rows.csv');
await writeFile(rows, 'question,answer\nWhat?,Bread.\n');
const ada = await server.signUp('Ada');
const bob = await server.signUp('Bob');
const base = await makeBaseModel(ada);

/** Creates a base model with the same requests as an upload with `curl`. */
async function makeBaseModel({ userId, apiKey }: TestUser): Promise<string> {
  const headers = { 'x-api-key': apiKey };
  const made = await fetch(`${server.url}/api/v1/asset`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ dataset_type: 'MODEL', title: 'base', user_id: userId }),
  });
  const id = (await made.json()) as string;
  for (const [name, bytes] of [
    ['config.json', Buffer.from('{}')],
    ['model.safetensors', emptySafetensors()],
  ] as const) {
    const body = new FormData();
    body.set('data_file', new Blob([new Uint8Array(bytes)]), name);
    const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
  }
  return id;
}

const payload = { dataset_type: 'RAW', category: '', details: '', tags: [], user_id: ada.userId };
const fineTune = (dataset: string, title: string) => ({
  ...payload,
  dataset_type: 'MODEL',
  title,
  fine_tune_payload: {
    asset_id: dataset,
    model_name: title,
    base_model: base,
    file_name: 'rows.csv',
    user_id: ada.userId,
    input_column: 'question',
    output_column: 'answer',
  },
});

describe('bagelml from npm', () => {
  const client = new Client(
    new Settings({ bagel_server_host: '127.0.0.1', bagel_server_http_port: new URL(server.url).port }),
  );
  const said: unknown[][] = [];

  beforeEach(() => {
    said.length = 0;
    for (const level of ['log', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((...words: unknown[]) => void said.push(words));
  });

  /** Returns what the client printed. Most of its methods return nothing. */
  const printed = () => said.flat();

  async function createDataset(title: string): Promise<string> {
    await client.create_asset({ ...payload, title }, ada.apiKey);
    const id = /Asset ID: (\S+)/.exec(printed().join('\n'))?.[1] ?? '';
    await client.add_file(id, rows, ada.apiKey);
    expect(printed()).toContain('Data uploaded successfully!');
    return id;
  }

  test('creates, fills, lists, reads, changes and deletes datasets', async () => {
    const id = await createDataset('npm rows');
    await client.get_asset_by_Id(id, ada.apiKey);
    expect(printed()).toContainEqual(expect.objectContaining({ dataset_id: id, file_count: 1 }));
    said.length = 0;
    await client.get_all_assets(ada.userId, ada.apiKey);
    const list = printed().find((one) => typeof one === 'object') as { datasets: object[] };
    expect(list.datasets).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ dataset_id: id, dataset_type: 'RAW' }),
        expect.objectContaining({ dataset_id: base, dataset_type: 'MODEL' }),
      ]),
    );
    const changes = { price: 200, is_published: true, details: 'Fresh', title: 'npm rows again' };
    expect(await client.update_asset(id, changes, ada.apiKey)).toMatchObject({ title: 'npm rows again' });
    await client.delete_asset(id, ada.apiKey);
    expect(printed()).toContain('Asset deleted successfully.');
  });

  test('starts a fine-tune, finds it as a job, and reads its files', async () => {
    const model = (await client.fine_tune(
      fineTune(await createDataset('npm data'), 'npm tuned'),
      ada.apiKey,
    )) as string;
    const jobs = (await client.list_jobs(ada.userId, ada.apiKey)) as { job_id: string }[];
    expect(jobs[0]).toMatchObject({ asset_id: model, status: 'queued', created_by: ada.userId });
    const jobId = jobs[0]?.job_id ?? '';
    expect(await client.get_job(jobId, ada.apiKey)).toEqual(jobs[0]);
    expect(await client.get_job_by_asset(model, ada.apiKey)).toMatchObject({ dataset_id: model });
    expect(await client.list_model_files(model, ada.apiKey)).toEqual([]);
    expect(await client.list_model_files(base, ada.apiKey)).toMatchObject([
      { path: 'config.json' },
      { path: 'model.safetensors' },
    ]);
    const file = await client.download_model_file(base, 'config.json', ada.apiKey);
    expect(await file.text()).toBe('{}');
    await client.download_model_files(jobId, 'config.json', ada.apiKey);
    expect(printed().join('\n')).toContain('There is no file config.json');
  });

  test('returns users and keys', async () => {
    await client.get_user_details(ada.userId, ada.apiKey);
    expect(printed()).toContainEqual(expect.objectContaining({ id: ada.userId, email: ada.email }));
    const made = (await client.create_api_key('npm', ada.userId, ada.apiKey)) as { data: string };
    await client.get_user_details(ada.userId, made.data);
    expect(printed().filter((one) => typeof one === 'object')).toHaveLength(2);
  });

  test("creates keys only for the caller, and only with the web app's key", async () => {
    await client.create_api_key('npm', ada.userId);
    await client.create_api_key('npm', ada.userId, 'nonsense');
    await client.create_api_key('npm', ada.userId, bob.apiKey);
    const further = (await client.create_api_key('npm', bob.userId, bob.apiKey)) as { data: string };
    await client.create_api_key('npm', bob.userId, further.data);
    const errors = printed().filter((words) => String(words).startsWith('Error creating'));
    const messages = ['API key not found', 'not valid', 'belongs to another user', 'cannot manage API keys'];
    expect(errors).toEqual(messages.map((message) => expect.stringContaining(message)));
  });

  test('answers unsupported calls with one plain sentence', async () => {
    await client.query_asset(base, { query_texts: ['bread'] }, ada.apiKey);
    expect(printed()).toContainEqual({
      error: expect.objectContaining({ message: expect.stringContaining('no vector indexes') }),
    });
    await client.like_dataset(base, ada.userId, 'like', ada.apiKey);
    expect(printed().join('\n')).toContain('no likes and no ratings here');
  });
});

// The npm client makes the same calls, and its tests run in every gate.
describe.runIf(isSoak)('bagelml from PyPI', { timeout: 300_000 }, () => {
  const key = ada.apiKey;
  const call = (...calls: [string, ...unknown[]][]) => callBagelml(server.url, { cwd: folder, calls });

  test('creates, fills, lists, reads, changes and deletes datasets', async () => {
    const [heartbeat, id] = await call(['ping'], ['create_asset', { ...payload, title: 'python rows' }, key]);
    expect(heartbeat).toBeGreaterThan(1e18);
    const [uploaded, list, info, columns, link, changed, deleted] = await call(
      ['file_upload', rows, id, key],
      ['get_assets_list', ada.userId, key],
      ['get_asset_info', id, key],
      ['get_dataset_column_names', id, 'rows.csv', key],
      ['get_download_url', id, 'rows.csv', key],
      ['update_asset', id, { title: 'python rows again', tags: ['Updated'] }, key],
      ['delete_asset', id, key],
    );
    expect(uploaded).toMatchObject(['Data uploaded successfully! ', { file: { path: 'rows.csv' } }]);
    expect(list).toMatchObject({
      datasets: expect.arrayContaining([expect.objectContaining({ dataset_id: id })]),
    });
    expect(info).toMatchObject({ dataset_id: id, title: 'python rows' });
    expect(columns).toEqual(['question', 'answer']);
    expect(new URL((link as { url: string }).url).origin).toBe(server.url);
    expect(changed).toMatchObject({ title: 'python rows again', tags: ['Updated'] });
    expect(deleted).toBe(`Dataset ${String(id)} deleted successfully!`);
  });

  test('starts a fine-tune, finds it as a job, and downloads its files, each and as a zip', async () => {
    const [dataset] = await call(['create_asset', { ...payload, title: 'python data' }, key]);
    const [, started] = await call(
      ['file_upload', rows, dataset, key],
      [
        'fine_tune',
        ...['python tuned', ada.userId, dataset, 'rows.csv', base, 3, 0.001, 'question', 'answer', key],
      ],
    );
    expect(started).toMatchObject(['Fine-tune operation has been started! Model ID: ', expect.any(String)]);
    const [, model] = started as [string, string];
    const [list, byAsset, files, one, zip, empty] = await call(
      ['list_jobs', ada.userId, key],
      ['get_job_by_asset_id', model, key],
      ['get_model_files_list', base, key],
      ['download_model_file', base, 'config.json', key],
      ['download_model', base, key],
      ['download_model', model, key],
    );
    const [, jobs] = list as [string, { job_id: string }[]];
    expect(jobs[0]).toMatchObject({ asset_id: model, model_name: 'python tuned', status: 'queued' });
    expect(byAsset).toEqual(['Job retrieved successfully! Job Info:', jobs[0]]);
    expect(await call(['get_job', jobs[0]?.job_id, key])).toEqual([null]);
    expect(files).toMatchObject([{ path: 'config.json' }, { path: 'model.safetensors' }]);
    expect(one).toBe('File successfully downloaded and saved as config.json');
    expect(await readFile(path.join(folder, 'config.json'), 'utf8')).toBe('{}');
    expect(zip).toContain(`Model ID: ${base}`);
    expect(await unzip(path.join(folder, `${base}.zip`), 'model.safetensors')).toEqual(emptySafetensors());
    expect(empty).toBe('Error downloading file');
  });

  test('answers unsupported calls with one plain sentence', async () => {
    const [bought, vector, info] = await call(
      ['buy_asset', base, ada.userId, key],
      ['create_asset', { ...payload, dataset_type: 'VECTOR', title: 'vectors' }, key],
      ['get_dataset_info', base, '', key],
    );
    expect(bought).toMatchObject({ error: { message: expect.stringContaining('Nothing is for sale here') } });
    expect(vector).toContain('VECTOR assets are not available');
    expect(info).toMatchObject({ error: { message: expect.stringContaining('no Git datasets') } });
  });
});

test('an aborted download of a zip closes its files', async () => {
  const ended = Promise.withResolvers<void>();
  const open = new Set<Readable>();
  const read = vi.spyOn(server.services.blobs, 'read').mockImplementation(async () => {
    // Stalls without data. More data than the announced length would end the download by itself.
    const stalled = new Readable({ read: () => undefined });
    open.add(stalled);
    return stalled.once('close', () => {
      open.delete(stalled);
      ended.resolve();
    });
  });
  const leaving = new AbortController();
  const headers = { 'x-api-key': ada.apiKey };
  const answer = await fetch(`${server.url}/api/v1/jobs/asset/${base}/download`, {
    headers,
    signal: leaving.signal,
  });
  expect(answer.status).toBe(200);
  // The first bytes of the zip are sent before a file is opened.
  const reader = answer.body?.getReader();
  await reader?.read();
  await expect.poll(() => open.size).toBe(1);
  leaving.abort();
  await ended.promise;
  expect(open.size).toBe(0);
  await expect(reader?.read()).rejects.toThrow('aborted');
  read.mockRestore();
});

/** Returns the bytes of one file in a zip, as read by Python. */
async function unzip(file: string, name: string): Promise<Buffer> {
  const program =
    'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))';
  const { stdout } = await promisify(execFile)('python3', ['-c', program, file, name], {
    encoding: 'buffer',
  });
  return stdout;
}
