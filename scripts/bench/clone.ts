import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAsset, getAsset } from '@bakehouse/contract/assets';
import { cloneStatus, startClone } from '@bakehouse/contract/hub/clones';
import { saveHubToken } from '@bakehouse/contract/hub/public';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { Client } from '../client/client.ts';
import { startSeparateServer } from '../client/separate-server.ts';
import { againstCopying, timed, writeAndHash, writeRandom } from './large-files.ts';
import type { Measured } from './measured.ts';
import { peakMemoryMb } from './memory.ts';

const ROUNDS = 3;
const POLL_MS = 100;
const ACCOUNT = { name: 'Bench', email: 'bench@example.com', password: 'sourdough-starter' };

/** Measures cloning 500 MB from a local server, compared with writing and hashing with system programs. */
export async function measureClone(): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const hub = await startSeparateServer({ BAKEHOUSE_PREPARE: 'false' });
  const server = await startSeparateServer({
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_SERVICE_URLS: `huggingface=${hub.url}/hub`,
  });
  try {
    const file = path.join(folder, 'random.bin');
    const owner = await Client.signUp(hub.url, ACCOUNT);
    const client = await Client.signUp(server.url, ACCOUNT);
    await client.call(saveHubToken, { params: { userId: client.userId }, body: { token: owner.apiKey } });
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // New bytes each time, because existing bytes would not be copied again.
      await writeRandom(file, FILE_SIZE_LIMIT_BYTES);
      theirs.push(await timed(() => writeAndHash(file, path.join(folder, 'copy.bin'))));
      const id = await owner.call(createAsset, {
        body: { dataset_type: 'RAW', title: `bench-${round}`, user_id: owner.userId },
      });
      await owner.upload(id, file);
      const { repo_id: repoId } = await owner.call(getAsset, { params: { id } });
      ours.push(await timed(() => clone(client, repoId)));
    }
    return [
      againstCopying(
        'clone of 500 MB',
        { ours, theirs },
        'the server that sends the file shares this machine',
      ),
      {
        name: "server's peak memory",
        unit: 'MB',
        ours: await peakMemoryMb(server.pid),
        goal: { kind: 'less than', value: 250 },
      },
    ];
  } finally {
    await server.stop();
    await hub.stop();
    await rm(folder, { recursive: true });
  }
}

/** Clones a repository and waits until the files are usable. */
async function clone(client: Client, repoId: string): Promise<void> {
  const { id } = await client.call(startClone, {
    query: { repo_id: repoId, dataset_type: 'RAW', user_id: client.userId },
  });
  for (;;) {
    const { status, reason } = await client.call(cloneStatus, { params: { id } });
    if (status === 'COMPLETED') return;
    if (status === 'FAILED' || status === 'CANCELLED') throw new Error(`The clone ended: ${reason}`);
    await sleep(POLL_MS);
  }
}
