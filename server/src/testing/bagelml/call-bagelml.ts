import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '../../config.ts';
import { ensureUv } from '../../engine/host/environment/ensure-layer.ts';
import { environmentPython } from '../../engine/host/environment/environment.ts';
import { runProgram } from '../../platform/processes/run-program.ts';

const LOCK = path.join(import.meta.dirname, 'requirements.lock');
const PROGRAM = path.join(import.meta.dirname, 'call_bagelml.py');

/**
 * Calls methods of the original product's Python client from PyPI one after the other. Returns their results
 * or errors. `cwd` is the folder for its downloads.
 */
export async function callBagelml(
  url: string,
  { cwd, calls }: { cwd: string; calls: [method: string, ...args: unknown[]][] },
): Promise<unknown[]> {
  const config = readConfig(process.env);
  const python = await environmentPython(config);
  const env = { PATH: process.env.PATH, PYTHONPATH: await installClient(config, python) };
  const { stdout } = await promisify(execFile)(
    python,
    ['-W', 'ignore', PROGRAM, new URL(url).port, JSON.stringify(calls)],
    { cwd, env },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown[];
}

/**
 * Installs the client in its own folder, because it needs older packages than ours. The folder is named after
 * its content.
 */
async function installClient(config: ReturnType<typeof readConfig>, python: string): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(LOCK))
    .digest('hex')
    .slice(0, 16);
  const dir = path.join(config.cacheDir, 'bagelml', hash);
  if (existsSync(dir)) return dir;
  const uv = await ensureUv(config, undefined);
  const part = `${dir}.${process.pid}`;
  await mkdir(path.dirname(dir), { recursive: true });
  await runProgram(uv, ['pip', 'install', '--no-deps', '--python', python, '--target', part, '-r', LOCK]);
  // Ignore the error: another test run has created the folder.
  await rename(part, dir).catch(() => rm(part, { recursive: true }));
  return dir;
}
