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
import { runtimeCommand } from '../../server/src/engine/host/runtime-command.ts';
import type { Client } from '../client/client.ts';

const script = path.join(import.meta.dirname, 'read_with_peft.py');

/**
 * Downloads a base model and an adapter like any user, and scores the served answers with Transformers and
 * PEFT. For each answer, returns the largest difference in log probability between a served token and the
 * token that PEFT would choose; 0 if all tokens are the same. Rounding, which depends on the CPU, may swap
 * two tokens that are equally likely.
 */
export async function readWithPeft(
  client: Client,
  models: { base: string; adapter: string },
  served: { question: string; answer: string }[],
): Promise<number[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-tour-'));
  try {
    const base = await download(client, models.base, path.join(folder, 'base'));
    const adapter = await download(client, models.adapter, path.join(folder, 'adapter'));
    const { command, env } = await runtimeCommand(readConfig(process.env));
    const reading = promisify(execFile)(command, [script, base, adapter], { env });
    reading.child.stdin?.end(JSON.stringify(served));
    const { stdout } = await reading;
    return z.array(z.number()).parse(JSON.parse(stdout));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns a folder with the files of a model, without those that only llama.cpp reads. */
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
