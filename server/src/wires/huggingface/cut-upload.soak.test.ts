import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';
import { startPython } from './testing/run-clients.ts';

/* Uploads a large file with `hf upload`, over Git LFS and over Xet, and kills the upload twice. */

const MIB = 1024 * 1024;
const LIMIT_MS = 1_800_000;

/** Writes a file of random bytes, and returns its SHA-256. */
async function writeLarge(file: string, sizeMib: number): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(file, 'w');
  for (let written = 0; written < sizeMib; written += 1) {
    const bytes = randomBytes(MIB);
    hash.update(bytes);
    await handle.write(bytes);
  }
  await handle.close();
  return hash.digest('hex');
}

type Way = { way: string; table: 'upload_parts' | 'hub_xorbs'; env: Record<string, string>; sizeMib: number };

test.each<Way>([
  // Large enough for several parts: Git LFS uses parts of at least 16 MiB, and Xet xorbs of at most 64 MiB.
  {
    way: 'Git LFS',
    table: 'upload_parts',
    env: { HF_HUB_DISABLE_XET: '1' },
    sizeMib: 2048,
  },
  { way: 'Xet', table: 'hub_xorbs', env: {}, sizeMib: 2048 },
])(
  'a file sent over $way is complete after two interruptions',
  { timeout: LIMIT_MS },
  async ({ table, env, sizeMib }) => {
    const server = await testServer();
    const ada = await hubCalls(server).signUpAs('ada');
    const home = await temporaryFolder();
    const sha256 = await writeLarge(path.join(home, 'large.bin'), sizeMib);
    const count = async () => (await server.services.db.selectFrom(table).selectAll().execute()).length;
    const start = () =>
      startPython(
        ['-m', 'huggingface_hub.cli.hf', 'upload', 'ada/large', 'large.bin', '--repo-type', 'dataset'],
        { server, user: ada, home, env },
      );
    let stored = 0;
    for (let cuts = 0; cuts < 2; cuts += 1) {
      const child = await start();
      const ended = once(child, 'close');
      child.stdout.resume();
      child.stderr.resume();
      while ((await count()) <= stored && child.exitCode === null) await sleep(5);
      child.kill('SIGKILL');
      await ended;
      expect(await count(), 'what had arrived').toBeGreaterThan(stored);
      stored = await count();
    }
    const last = await start();
    const [output, errors] = await Promise.all([text(last.stdout), text(last.stderr), once(last, 'close')]);
    expect(last.exitCode, output + errors).toBe(0);
    const [file] = await hubCalls(server).read('/api/datasets/ada/large/tree/main', { as: ada });
    expect(file).toMatchObject({ path: 'large.bin', size: sizeMib * MIB, lfs: { oid: sha256 } });
    const received = await server.services.db
      .selectFrom('blobs')
      .selectAll()
      .where('sha256', '=', sha256)
      .execute();
    expect(received).toHaveLength(1);
  },
);
