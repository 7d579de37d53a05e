import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { createDriver } from './create-driver.ts';
import { environmentDir, runtimeDir } from './engine/host/environment/environment.ts';
import { environmentOf, type Layer, lockFiles } from './engine/host/environment/layers.ts';
import { idleCpu, machineCpu } from './engine/host/machine-cpu.ts';
import { readOffer } from './engine/machines/read-machines.ts';
import { noSandbox } from './platform/sandbox/sandbox.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { testDatabase } from './testing/test-database.ts';

const log = pino({ level: 'silent' });

it('makes the input cache, which has files of all users, accessible to the server only', async () => {
  const { db } = await testDatabase();
  const home = await temporaryFolder();
  const config = { ...readConfig({}), cacheDir: path.join(home, 'cache'), dataDir: path.join(home, 'data') };
  const cache = path.join(config.cacheDir, 'inputs');
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o755);
  await createDriver({
    config,
    db,
    log,
    sandbox: noSandbox(config.dataDir),
  });
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
});

it('starts no work before its part of the environment is prepared, and reports why', async () => {
  const { db } = await testDatabase();
  const home = await temporaryFolder();
  const config = { ...readConfig({}), cacheDir: path.join(home, 'cache'), dataDir: path.join(home, 'data') };
  const install = async (layer: Layer) => {
    const environment = await environmentDir(config, environmentOf(layer));
    await mkdir(environment, { recursive: true });
    const lock = await readFile(path.join(runtimeDir, lockFiles[layer]));
    const stamp = createHash('sha256').update(lock).digest('hex');
    await writeFile(path.join(environment, `.bakehouse-${layer}`), stamp);
  };
  await install('serving');

  const driver = await createDriver({
    config,
    db,
    log,
    sandbox: noSandbox(config.dataDir),
  });
  const blocked = async () => {
    const { blockers } = await readOffer(driver, { cpu: machineCpu(), load: idleCpu() });
    return Object.fromEntries(Object.entries(blockers).filter(([, blocker]) => blocker !== null));
  };
  const training = 'Fine-tuning: this machine is still being prepared';
  const vllm = 'Text serving on GPUs: this machine is still being prepared';
  const withTorch = {
    train: training,
    export: training,
    'serve paris': training,
    'serve kontext': training,
    'serve wan': training,
  };
  expect(await blocked()).toEqual({ ...withTorch, 'serve vllm': vllm });
  await install('vllm');
  expect(await blocked()).toEqual(withTorch);
  await install('training');
  expect(await blocked()).toEqual({});
});
