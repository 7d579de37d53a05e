import { setTimeout as sleep } from 'node:timers/promises';
import { type Clone, cloneLogs, cloneStatus, startClone } from '@bakehouse/contract/hub/clones';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { createCloneLoop } from '../clone/run-clone.ts';
import type { PublicHub } from './public-hub.ts';

const LOOK_MS = 25;

/** Minimal pauses for tests. */
export const testPace = {
  ...{ againMs: 1, pauseMsMax: 20, failuresMax: 3, stallMs: 2_000 },
  ...{ leastBytes: 1, leastMs: 60_000 },
};

/** A server with this public hub and a running clone loop. */
export async function cloningServer(hub: PublicHub): Promise<TestServer> {
  const server = await testServer();
  // Can be changed after the start, because each call reads it.
  server.services.config.hubUrl = hub.url;
  const loop = createCloneLoop(server.services, testPace);
  loop.start();
  onFileEnd(loop.stop);
  return server;
}

/** Returns calls for tests of clones on a server. */
export function cloneCalls(server: TestServer) {
  const status = (user: TestUser, id: string) =>
    server.request(cloneStatus, { params: { id } }, { as: user });
  const untilEnded = async (user: TestUser, id: string): Promise<Clone> => {
    for (;;) {
      const clone = await status(user, id);
      if (clone.ended_at !== null) return clone;
      await sleep(LOOK_MS);
    }
  };
  const start = (user: TestUser, repoId: string, datasetType: Clone['dataset_type'] = 'MODEL') =>
    server.request(
      startClone,
      { query: { repo_id: repoId, dataset_type: datasetType, user_id: user.userId } },
      { as: user },
    );
  return {
    status,
    start,
    untilEnded,
    /** Starts a clone and waits for its end. */
    clone: async (user: TestUser, repoId: string, datasetType: Clone['dataset_type'] = 'MODEL') =>
      untilEnded(user, (await start(user, repoId, datasetType)).id),
    logs: async (user: TestUser, id: string) =>
      (await server.request(cloneLogs, { params: { id } }, { as: user })).files_copying_logs,
  };
}

/** Returns a user's audit log entries whose action matches, in order. */
export async function auditedActions(
  { services }: TestServer,
  { userId }: TestUser,
  like: string,
): Promise<string[]> {
  const rows = await services.db
    .selectFrom('audit_log')
    .select('action')
    .where('user_id', '=', userId)
    .where('action', 'like', like)
    .orderBy('id')
    .execute();
  return rows.map(({ action }) => action);
}

/** Returns a safetensors file with one tensor of this many bytes, all equal to `byte`. */
export function safetensors(bytes: number, byte = 7): Buffer {
  const header = JSON.stringify({ weight: { dtype: 'U8', shape: [bytes], data_offsets: [0, bytes] } });
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, Buffer.from(padded), Buffer.alloc(bytes, byte)]);
}
