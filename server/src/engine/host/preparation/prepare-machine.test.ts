import { type Logger, pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { readConfig } from '../../../config.ts';
import { systemClock } from '../../../platform/clock.ts';
import { connect } from '../../../platform/db/database.ts';
import { runProgram } from '../../../platform/processes/run-program.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { readMachine } from '../../machines/read-machines.ts';
import { runtimeCommand } from '../runtime-command.ts';
import { startPreparing } from './prepare-machine.ts';
import { findPreparation } from './queries.ts';
import type { StarterFile } from './starter-model.ts';

it('prepares the environment and registers the starter models', { timeout: 600_000 }, async () => {
  const { db } = await testDatabase();
  const config = readConfig(process.env);
  const services = {
    db,
    config,
    clock: systemClock,
    log: pino({ level: 'silent' }),
  };
  const registered: StarterFile[][] = [];
  let embeddingFiles: StarterFile[] = [];
  const imageFiles: Record<string, StarterFile[]> = {};
  const register = {
    language: async (files: StarterFile[]) => registered.push(files),
    embedding: async (files: StarterFile[]) => (embeddingFiles = files),
    image: async (name: string, files: StarterFile[]) => (imageFiles[name] = files),
  };

  const prepareToTheEnd = async () => {
    const preparing = startPreparing(services, register);
    const last = () => findPreparation(services.db, 'starter-image-model');
    await expect.poll(last, { timeout: 600_000, interval: 200 }).toMatchObject({ state: 'ready' });
    await preparing.stop();
  };
  await prepareToTheEnd();

  const paths = registered.map((files) => files.map((file) => file.path));
  expect(paths[0]).toEqual(expect.arrayContaining(['README.md', 'gguf/model-f16.gguf']));
  expect(paths.at(-1)).toEqual(
    expect.arrayContaining(['config.json', 'model.safetensors', 'tokenizer.json']),
  );
  expect(imageFiles.paris?.map((file) => file.path)).toEqual(
    expect.arrayContaining([
      'README.md',
      'model_index.json',
      'base/config.json',
      'expert_0/difference.safetensors',
    ]),
  );
  expect(embeddingFiles.map((file) => file.path)).toEqual(
    expect.arrayContaining(['1_Pooling/config.json', 'model.safetensors', 'modules.json', 'tokenizer.json']),
  );
  expect(imageFiles.kontext?.map((file) => file.path)).toEqual(
    expect.arrayContaining(['model_index.json', 'transformer/config.json', 'vae/config.json']),
  );
  const { preparations } = await readMachine(services);
  expect(preparations.map(({ id, state }) => [id, state])).toEqual([
    ['serving', 'ready'],
    ['starter-language-model', 'ready'],
    ['starter-embedding-model', 'ready'],
    ['training', 'ready'],
    ['starter-image-model', 'ready'],
  ]);

  const runtime = await runtimeCommand(config);
  const help = await runProgram(runtime.command, [...runtime.args, '--help'], { env: runtime.env });
  expect(help.join('\n')).toContain('validate');

  const before = registered.length;
  await prepareToTheEnd();
  expect(registered.length, 'a second start makes no language model again').toBe(before);
});

it('retries while the database is unavailable', async () => {
  const db = connect('postgresql://127.0.0.1:1/away');
  onFileEnd(() => db.destroy());
  const messages: string[] = [];
  const error = vi.fn();
  const log = {
    warn: (_fields: object, message: string) => messages.push(message),
    info: () => undefined,
    error,
  } as unknown as Logger;
  const config = readConfig(process.env);
  const nothing = async () => undefined;
  const register = { language: nothing, embedding: nothing, image: nothing };
  const preparing = startPreparing({ db, config, clock: systemClock, log }, register);
  const last = () => messages.slice(-2);
  await expect.poll(last).toEqual(['preparation step failed', 'failed to record the state of a preparation']);
  await preparing.stop();
  expect(error).not.toHaveBeenCalled();
});
