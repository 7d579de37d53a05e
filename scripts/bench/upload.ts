import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { completeUpload, createUpload, putUploadPart } from '@bakehouse/contract/asset-uploads';
import { createAsset, uploadFile } from '@bakehouse/contract/assets';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { importFolder } from '../../server/src/modules/models/import/import-folder.ts';
import { withSeparateConnections } from '../../server/src/platform/db/in-transaction.ts';
import { noSandbox } from '../../server/src/platform/sandbox/sandbox.ts';
import { openLocalBlobStore } from '../../server/src/platform/storage/local-blob-store.ts';
import { Client } from '../client/client.ts';
import { type SeparateServer, startSeparateServer } from '../client/separate-server.ts';
import { againstCopying, timed, writeAndHash, writeRandom } from './large-files.ts';
import type { Measured } from './measured.ts';
import { peakMemoryMb } from './memory.ts';

const ROUNDS = 3;
const BOUNDARY = 'bakehouse-bench-upload';

/** Measures the largest permitted upload, compared with writing and hashing with system programs. */
export async function measureUpload(): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const server = await startSeparateServer({ BAKEHOUSE_PREPARE: 'false' });
  try {
    const file = path.join(folder, 'random.bin');
    await writeRandom(file, FILE_SIZE_LIMIT_BYTES);
    // On the same disk as the stored files, so that a hard link is possible.
    const own = path.join(server.dataDir, 'own');
    await mkdir(own);
    await copyFile(file, path.join(own, 'random.bin'));
    const client = await Client.signUp(server.url, {
      name: 'Bench',
      email: 'bench@example.com',
      password: 'sourdough-starter',
    });
    const ours: number[] = [];
    const inParts: number[] = [];
    const imports: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await timed(() => writeAndHash(file, path.join(folder, 'copy.bin'))));
      const dataset = await client.call(createAsset, {
        body: { dataset_type: 'RAW', title: `Bench ${round}`, user_id: client.userId },
      });
      ours.push(await timed(() => upload(client, dataset, file)));
      inParts.push(await timed(() => uploadInParts(client, dataset, file)));
      imports.push(
        await timed(() => importOwn(server, { folder: own, userId: client.userId, title: `Own ${round}` })),
      );
    }
    return [
      againstCopying('upload of 500 MB', { ours, theirs }),
      againstCopying(
        'upload of 500 MB in parts',
        { ours: inParts, theirs },
        'each byte is hashed by the sender, as it comes, and twice when the whole is read again',
      ),
      againstCopying('import of 500 MB', { ours: imports, theirs }),
      {
        name: "server's peak memory",
        unit: 'MB',
        ours: await peakMemoryMb(server.pid),
        goal: { kind: 'less than', value: 250 },
      },
    ];
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

/** Streams the form without a client library, to measure only the server. */
async function upload(client: Client, assetId: string, file: string): Promise<void> {
  const head = Buffer.from(
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="data_file"; filename="random.bin"\r\n` +
      'content-type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const request = http.request(new URL(endpointUrl(uploadFile.path, { id: assetId }), client.url), {
    method: uploadFile.method,
    headers: {
      'x-api-key': client.apiKey,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': head.length + FILE_SIZE_LIMIT_BYTES + tail.length,
    },
  });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  request.write(head);
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), request, { end: false });
  request.end(tail);
  const answer = await answered;
  answer.resume();
  if (answer.statusCode !== 200) throw new Error(`The upload was refused with ${answer.statusCode}.`);
}

/** Sends four parts at a time, like the web app. */
async function uploadInParts(client: Client, id: string, file: string): Promise<void> {
  const body = { path: 'parts.bin', size_bytes: FILE_SIZE_LIMIT_BYTES };
  const opened = await client.call(createUpload, { params: { id }, body });
  const params = { id, uploadId: opened.upload_id };
  const handle = await open(file);
  let next = 1;
  const work = async () => {
    for (let number = next++; number <= opened.part_count; number = next++) {
      const bytes = Buffer.alloc(opened.part_bytes);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, (number - 1) * opened.part_bytes);
      const part = bytes.subarray(0, bytesRead);
      const sha256 = createHash('sha256').update(part).digest('hex');
      const target = endpointUrl(putUploadPart.path, { ...params, number: String(number) }, { sha256 });
      const answer = await fetch(new URL(target, client.url), {
        method: putUploadPart.method,
        headers: { 'x-api-key': client.apiKey },
        body: part,
      });
      if (!answer.ok) throw new Error(`A part was refused with ${answer.status}.`);
      await answer.body?.cancel();
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  await handle.close();
  while ((await client.call(completeUpload, { params })).file === null);
}

/** Imports a folder like the command, but without the second that the command needs to start. */
async function importOwn(
  server: SeparateServer,
  folder: { folder: string; userId: string; title: string },
): Promise<void> {
  const blobs = await openLocalBlobStore(path.join(server.dataDir, 'blobs'));
  const sandbox = noSandbox(path.join(server.dataDir, 'lent'));
  await withSeparateConnections(await server.databaseUrl(), 2, (db) =>
    importFolder({ blobs, db, sandbox }, folder),
  );
}
