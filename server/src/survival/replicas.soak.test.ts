import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { completeUpload, createUpload } from '@bakehouse/contract/asset-uploads';
import { createAsset } from '@bakehouse/contract/assets';
import { expect, test, vi } from 'vitest';
import { emptySafetensors } from '../modules/fine-tuning/testing/test-run.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { serverProcess } from '../testing/server-process.ts';
import { startS3Server } from '../testing/servers/s3-server.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { type TestUser, testClient } from '../testing/test-client.ts';
import { testDatabase } from '../testing/test-database.ts';

const READER = fileURLToPath(new URL('../platform/sandbox/reader/reader-program.ts', import.meta.url));
const database = await testDatabase();
const { db } = database;
const s3Server = await startS3Server();
onFileEnd(s3Server.close);
const client = new S3Client({
  ...{ endpoint: s3Server.endpoint, region: 'us-east-1', forcePathStyle: true },
  credentials: {
    accessKeyId: s3Server.owner.AWS_ACCESS_KEY_ID,
    secretAccessKey: s3Server.owner.AWS_SECRET_ACCESS_KEY,
  },
});
for (const Bucket of ['loaves', 'crumbs']) await client.send(new CreateBucketCommand({ Bucket }));

/** Reads uploads for the replicas, like the reader's container next to a server. */
const reader = path.join(await temporaryFolder(), 'reader');
const reading = spawn(process.execPath, [READER, reader], { stdio: 'ignore' });
onFileEnd(async () => void reading.kill());

const settings = {
  ...s3Server.owner,
  BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
  BAKEHOUSE_S3_BUCKET: 'loaves',
  BAKEHOUSE_S3_ENDPOINT: s3Server.endpoint,
  BAKEHOUSE_READER: reader,
};
const replica = (services: string[], more: Record<string, string> = {}) =>
  serverProcess(database.url, services, { ...settings, ...more });

type Server = { url: string };

async function makeAsset({ url }: Server, user: TestUser, type: 'RAW' | 'MODEL'): Promise<string> {
  const body = { dataset_type: type, title: type, user_id: user.userId };
  return testClient(url).request(createAsset, { body }, { as: user });
}

async function upload({ url }: Server, user: TestUser, id: string, name: string, bytes: Buffer) {
  const form = new FormData();
  form.set('data_file', new Blob([new Uint8Array(bytes)]), name);
  const headers = { 'x-api-key': user.apiKey };
  const answer = await fetch(`${url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body: form });
  expect(answer.status, await answer.text()).toBe(200);
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function putPart({ url }: Server, user: TestUser, place: string, bytes: Buffer) {
  const answer = await fetch(`${url}/api/v1/asset/${place}?sha256=${hash(bytes)}`, {
    method: 'PUT',
    headers: { 'x-api-key': user.apiKey, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

async function download({ url }: Server, user: TestUser, id: string): Promise<Buffer> {
  const answer = await fetch(`${url}/api/v1/jobs/asset/${id}/files/model.safetensors`, {
    headers: { 'x-api-key': user.apiKey },
  });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

test('replicas without a data folder share their work, and continue when one is killed', {
  timeout: 120_000,
}, async () => {
  const [first, second] = [await replica(['web']), await replica(['web'])];
  const worker = await replica(['worker', 'reconciler'], {
    ...{ BAKEHOUSE_PUBLIC_URL: second.url, BAKEHOUSE_READER: 'none' },
  });
  for (const one of [first, second, worker]) expect(await one.start()).toBe('');
  const user = await testClient(first.url).signUp();
  const weights = emptySafetensors();
  const base = await makeAsset(first, user, 'MODEL');
  await upload(first, user, base, 'model.safetensors', weights);
  expect(await download(second, user, base)).toEqual(weights);

  // One upload in two parts, which different replicas receive.
  const large = Buffer.alloc(17 * 1024 * 1024, 'question,answer\na,b\n');
  const notes = await makeAsset(first, user, 'RAW');
  const asked = {
    params: { id: notes },
    body: { path: 'rows.csv', size_bytes: large.length, sha256: hash(large) },
  };
  const opened = await testClient(first.url).request(createUpload, asked, { as: user });
  expect(opened.part_count).toBe(2);
  const partAt = (at: number) => large.subarray(at * opened.part_bytes, (at + 1) * opened.part_bytes);
  await putPart(first, user, `${notes}/uploads/${opened.upload_id}/parts/1`, partAt(0));

  await first.kill();
  expect(await download(second, user, base)).toEqual(weights);
  await putPart(second, user, `${notes}/uploads/${opened.upload_id}/parts/2`, partAt(1));
  const params = { id: notes, uploadId: opened.upload_id };
  await vi.waitFor(
    async () => {
      const { file } = await testClient(second.url).request(completeUpload, { params }, { as: user });
      expect(file).toMatchObject({ size_bytes: large.length });
    },
    { timeout: 60_000, interval: 500 },
  );
  await upload(second, user, base, 'config.json', Buffer.from('{}'));
  const dataset = await makeAsset(second, user, 'RAW');
  await upload(second, user, dataset, 'rows.csv', Buffer.from('question,answer\na,b\n'));
  // Workloads report to any replica that is alive.
  const fine_tune_payload = {
    ...{ asset_id: dataset, base_model: base, model_name: 'loaf', file_name: 'rows.csv' },
    ...{ user_id: user.userId, ceiling: '1', input_column: 'question', output_column: 'answer' },
  };
  const body = { dataset_type: 'MODEL' as const, title: 'loaf', user_id: user.userId, fine_tune_payload };
  await testClient(second.url).request(createAsset, { body }, { as: user, idempotencyKey: randomUUID() });
  await vi.waitFor(
    async () => {
      const runs = await db.selectFrom('workloads').select('state').execute();
      expect(runs).toEqual([{ state: 'completed' }]);
    },
    { timeout: 60_000, interval: 200 },
  );
  // A process that runs no work belongs to no machine.
  expect(await db.selectFrom('machines').select('id').execute()).toEqual([{ id: await worker.id() }]);

  // A replica that restarts as another pod works like any other.
  const third = await replica(['web']);
  expect(await third.start()).toBe('');
  expect(await download(third, user, base)).toEqual(weights);
});

test('a second machine, and a replica with another secret, another bucket or none, is rejected with one sentence', async () => {
  const second = await replica(['reconciler'], { BAKEHOUSE_READER: '' });
  expect(await second.start()).toContain('This installation already has a machine');
  const stranger = await replica(['web'], { BAKEHOUSE_SECRET: 'another-one-another-one-another-one' });
  expect(await stranger.start()).toContain(
    "This machine's secret differs from the secret of the other processes",
  );
  const elsewhere = await replica(['web'], { BAKEHOUSE_S3_BUCKET: 'crumbs' });
  expect(await elsewhere.start()).toContain('The bucket contains no file that the database references');
  const without = await replica(['web'], { BAKEHOUSE_S3_BUCKET: '', BAKEHOUSE_S3_ENDPOINT: '' });
  expect(await without.start()).toContain('set BAKEHOUSE_S3_BUCKET');
});
