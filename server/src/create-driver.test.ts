import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { createDriver } from './create-driver.ts';
import { environmentDir, runtimeDir } from './engine/machine/environment.ts';
import { lockFiles } from './engine/machine/layers.ts';
import { textServerSpec } from './modules/deployments/text-server-spec.ts';
import { noWall } from './platform/walls/wall.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { testDatabase } from './testing/test-database.ts';

it('closes the cache of inputs, where the files of all users lie', async () => {
  const { db } = await testDatabase();
  const home = await temporaryFolder();
  const config = { ...readConfig({}), cacheDir: path.join(home, 'cache'), dataDir: path.join(home, 'data') };
  const cache = path.join(config.cacheDir, 'inputs');
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o755);
  await createDriver({ config, db, wall: noWall(config.dataDir) });
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
});

it('starts nothing on vLLM that is not installed, and says so', async () => {
  const { db } = await testDatabase();
  const home = await temporaryFolder();
  const config = { ...readConfig({}), cacheDir: path.join(home, 'cache'), dataDir: path.join(home, 'data') };
  const environment = await environmentDir(config);
  const lock = await readFile(path.join(runtimeDir, lockFiles.serving));
  const packages = path.join(environment, 'lib', 'python3.12', 'site-packages');
  await mkdir(packages, { recursive: true });
  await writeFile(
    path.join(environment, '.bakehouse-serving'),
    createHash('sha256').update(lock).digest('hex'),
  );

  const driver = await createDriver({ config, db, wall: noWall(config.dataDir) });
  const blockers = () =>
    Promise.all(
      (['llamacpp', 'vllm'] as const).map((engine) =>
        driver.blocker(textServerSpec({ engine, files: [], modelFile: '' }, [], { threads: 1, gpus: 1 })),
      ),
    );
  expect(await blockers()).toEqual([null, expect.stringContaining('vLLM is missing')]);
  await mkdir(path.join(packages, 'vllm'));
  await writeFile(path.join(packages, 'vllm', '__init__.py'), '');
  expect(await blockers()).toEqual([null, null]);
});
