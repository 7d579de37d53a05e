import { pino } from 'pino';
import { expect, it } from 'vitest';
import { readConfig } from '../../config.ts';
import { systemClock } from '../../platform/clock.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { startPreparing } from './prepare-machine.ts';
import { isPrepared, readMachine } from './read-machine.ts';
import { runProgram } from './run-program.ts';
import { runtimeCommand } from './runtime-command.ts';
import type { StarterFile } from './starter-model.ts';

it('prepares the environment and registers the starter model once', { timeout: 600_000 }, async () => {
  const { db } = await testDatabase();
  const config = readConfig(process.env);
  const services = { db, config, clock: systemClock, log: pino({ level: 'silent' }) };
  const registered: StarterFile[][] = [];
  const register = async (files: StarterFile[]) => {
    registered.push(files);
  };

  const prepareToTheEnd = async () => {
    const preparing = startPreparing(services, register);
    await expect.poll(() => isPrepared({ db }, 'training'), { timeout: 600_000, interval: 200 }).toBe(true);
    await preparing.stop();
  };
  await prepareToTheEnd();

  const paths = registered.map((files) => files.map((file) => file.path));
  expect(paths[0]).toEqual(expect.arrayContaining(['README.md', 'gguf/model-f16.gguf']));
  expect(paths.at(-1)).toEqual(
    expect.arrayContaining(['config.json', 'model.safetensors', 'tokenizer.json']),
  );
  const { preparations } = await readMachine({ config, db });
  expect(preparations.map(({ id, state }) => [id, state])).toEqual([
    ['serving', 'ready'],
    ['starter-language-model', 'ready'],
    ['training', 'ready'],
  ]);

  const runtime = await runtimeCommand(config);
  const help = await runProgram(runtime.command, [...runtime.args, '--help'], { env: runtime.env });
  expect(help.join('\n')).toContain('validate');

  const before = registered.length;
  await prepareToTheEnd();
  expect(registered.length, 'a second start registers nothing').toBe(before);
});
