import { type ChildProcessByStdio, spawn } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { readConfig } from '../../../config.ts';
import { environmentPython } from '../../../engine/host/environment/environment.ts';
import { runPytest } from '../../../testing/run-pytest.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';

type Client = { server: TestServer; user: TestUser; home: string; env?: Record<string, string> };

/**
 * Starts Python with the hub's clients. They call the server as this user and store their state in `home`.
 */
export async function startPython(
  words: string[],
  client: Client,
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  const python = await environmentPython(readConfig(process.env));
  return spawn(python, words, {
    ...{ cwd: client.home, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...environmentOf(client), PYTHONDONTWRITEBYTECODE: '1' },
  });
}

/**
 * Runs pytest files from this folder. They call the server as this user, through the hub's Python clients.
 */
export async function runClients(
  server: TestServer,
  { files, user, env = {} }: { files: string[]; user: TestUser; env?: Record<string, string> },
): Promise<{ code: unknown; output: string }> {
  const home = await temporaryFolder();
  return runPytest(await environmentPython(readConfig(process.env)), {
    files: files.map((file) => path.join(import.meta.dirname, file)),
    ...{ home, env: environmentOf({ server, user, home, env }) },
  });
}

/** Returns environment variables with the hub's URL and the user's key. */
function environmentOf({ server, user, home, env = {} }: Client): NodeJS.ProcessEnv {
  const { HF_ENDPOINT: _, HF_TOKEN: __, ...inherited } = process.env;
  return {
    ...inherited,
    HF_ENDPOINT: `${server.url}/hub`,
    HF_TOKEN: user.apiKey,
    HF_HOME: home,
    HF_HUB_DISABLE_TELEMETRY: '1',
    HF_HUB_DISABLE_PROGRESS_BARS: '1',
    ...env,
  };
}
