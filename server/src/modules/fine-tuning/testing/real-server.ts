import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createAsset } from '@bakehouse/contract/assets';
import { expect, vi } from 'vitest';
import { readConfig } from '../../../config.ts';
import { runtimeDir } from '../../../engine/host/environment/environment.ts';
import { runtimeCommand } from '../../../engine/host/runtime-command.ts';
import { runProgram } from '../../../platform/processes/run-program.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { freePort } from '../../../testing/ports/free-port.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { type TestClient, type TestUser, testClient } from '../../../testing/test-client.ts';
import { testDatabase } from '../../../testing/test-database.ts';

/** Time limit for a wait. It is long, because training is slow while other tests run. */
export const LONG_WAIT = { timeout: 15 * 60_000, interval: 200 };

/** A server program whose port, database and folder survive restarts. */
export async function realServer(settings: Record<string, string> = {}) {
  const { url: databaseUrl } = await testDatabase();
  const dataDir = await temporaryFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  const end = async (signal: NodeJS.Signals) => {
    const ended = child && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    child?.kill(signal);
    await ended;
  };
  onFileEnd(() => end('SIGTERM'));

  return {
    client: testClient(url),
    url,
    start: async () => {
      child = spawn(process.execPath, [path.resolve(import.meta.dirname, '../../../main.ts')], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          ...process.env,
          DATABASE_URL: databaseUrl,
          BAKEHOUSE_DATA_DIR: dataDir,
          BAKEHOUSE_PORT: String(port),
          BAKEHOUSE_PREPARE: 'false',
          BAKEHOUSE_RATE_LIMITS: 'false',
          BAKEHOUSE_LOG_LEVEL: 'error',
          OMP_NUM_THREADS: '1',
          ...settings,
        },
      });
      child.stdout?.on('data', () => undefined);
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), LONG_WAIT);
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    /** Returns the process id of the run's newest trainer, a child of its launcher. */
    trainer: async (runId: string): Promise<number> => {
      const dir = path.join(dataDir, 'workloads', runId, 'attempts');
      const attempts = (await readdir(dir)).filter((name) => /^\d+$/.test(name)).map(Number);
      const [launcher = ''] = (await readFile(path.join(dir, String(Math.max(...attempts))), 'utf8')).split(
        ' ',
      );
      const [pid = ''] = await runProgram('pgrep', ['-P', launcher]);
      return Number(pid);
    },
  };
}

/** Returns rows with questions about a bakery, each in four phrasings. */
export function rows(): string {
  const facts = [
    'The bread is a dark rye.',
    'The oven opens at four.',
    'The cat is called Crumpet.',
    'Flour comes on Monday.',
  ];
  const lines = facts.flatMap((fact, index) =>
    Array.from({ length: 4 }, (_, phrasing) => `What about ${index} in way ${phrasing}?,${fact}`),
  );
  return `question,answer\n${lines.join('\n')}\n`;
}

/** Returns the files of the tiny model of the runtime's own tests, with a GGUF if it is to be served. */
export async function tinyModel({ gguf = false } = {}): Promise<Record<string, Buffer>> {
  const folder = await temporaryFolder();
  const { command, env } = await runtimeCommand(readConfig({}));
  const program = `
import sys
from pathlib import Path
from tiny_model import write_tiny_gguf, write_tiny_model
folder = Path(sys.argv[1])
write_tiny_model(folder, tied=True)
${gguf ? 'write_tiny_gguf(folder, folder / "tiny-F32.gguf")' : ''}`;
  await runProgram(command, ['-c', program, folder], {
    env: { ...env, PYTHONPATH: `${path.join(runtimeDir, 'tests')}:${env.PYTHONPATH}` },
  });
  const names = await readdir(folder);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name))])),
  );
}

export async function upload(
  { client, url }: { client: TestClient; url: string },
  as: TestUser,
  type: 'RAW' | 'MODEL',
  title: string,
  files: Record<string, string | Buffer>,
): Promise<string> {
  const id = await client.request(
    createAsset,
    // The model card of a fine-tune names its base only if the base is published.
    { body: { dataset_type: type, title, user_id: as.userId, is_published: type === 'MODEL' } },
    { as },
  );
  for (const [name, bytes] of Object.entries(files)) {
    const body = new FormData();
    body.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    const answer = await fetch(`${url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': as.apiKey },
      body,
    });
    expect(answer.status, await answer.text()).toBe(200);
  }
  return id;
}
