import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { runtimeDir } from '../../server/src/engine/host/environment/environment.ts';
import { preparePython, prepareStarterModel } from '../prepare/python-environment.ts';
import { cleanEnvironment } from './clean-environment.ts';

export type LlamaServer = { url: string; stop: () => Promise<void> };

/** Starts llama.cpp's own server for the starter model, with its defaults and in a clean environment. */
export async function startLlamaServer(): Promise<LlamaServer> {
  const python = await preparePython('serving');
  const folder = await prepareStarterModel();
  const file = (await readdir(folder)).find((name) => name.endsWith('.gguf'));
  if (!file) throw new Error('The starter model has no GGUF file.');
  const script = path.join(runtimeDir, 'bench', 'llama_server.py');
  const server = spawn(python, [script, path.join(folder, file)], {
    env: cleanEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: server.stdout }).once('line', resolve);
    void ended.then(() => reject(new Error('llama.cpp ended before it answered.')));
  });
  const stop = async () => {
    server.stdin.end();
    await ended;
  };
  return { url, stop };
}
