import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { downloadFile, getAsset } from '@bakehouse/contract/assets';
import * as z from 'zod';
import { readConfig } from '../../server/src/config.ts';
import { runtimeCommand } from '../../server/src/engine/machine/runtime-command.ts';
import type { Client } from '../client.ts';

const script = path.join(import.meta.dirname, 'answer_with_peft.py');

/**
 * Downloads a base model and an adapter as any user may, and answers the questions with them
 * through Transformers and PEFT: the reference for what the served model says.
 */
export async function answerWithPeft(
  client: Client,
  models: { base: string; adapter: string },
  questions: string[],
): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-tour-'));
  try {
    const base = await download(client, models.base, path.join(folder, 'base'));
    const adapter = await download(client, models.adapter, path.join(folder, 'adapter'));
    const { command, env } = await runtimeCommand(readConfig(process.env));
    const answering = promisify(execFile)(command, [script, base, adapter, ...questions], { env });
    const { stdout } = await answering;
    return z.array(z.string()).parse(JSON.parse(stdout));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The folder of a model's files, without those that only llama.cpp reads. */
async function download(client: Client, assetId: string, folder: string): Promise<string> {
  const { files } = await client.call(getAsset, { params: { id: assetId } });
  for (const file of files) {
    if (file.path.endsWith('.gguf')) continue;
    const target = path.join(folder, file.path);
    await mkdir(path.dirname(target), { recursive: true });
    const response = await client.send(downloadFile, { params: { id: assetId, '*': file.path } });
    if (response.body) await pipeline(Readable.fromWeb(response.body), createWriteStream(target));
  }
  return folder;
}
