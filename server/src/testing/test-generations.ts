import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getBalance } from '@bakehouse/contract/credits';
import {
  type Generation,
  type GenerationState,
  getGeneration,
  startGeneration,
} from '@bakehouse/contract/generations';
import { parseBgl } from '@bakehouse/contract/money';
import { expect, vi } from 'vitest';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import type { ImageStarter } from '../engine/host/preparation/image-starters.ts';
import { imageServer } from '../modules/generations/testing/image-server.ts';
import { registerImageStarter } from '../modules/models/starter/register-starters.ts';
import type { Services } from '../platform/context.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { type TestUser, testServer } from './test-server.ts';

/** For tests: registers the starter image models. Their weights are never read. */
export async function insertImageStarters(services: Services): Promise<string> {
  const register = async (name: ImageStarter, pipeline: string) => {
    const localPath = path.join(services.config.dataDir, `${name}.json`);
    await writeFile(localPath, JSON.stringify({ _class_name: pipeline }));
    return registerImageStarter(services, name, [{ path: 'model_index.json', localPath }]);
  };
  await register('kontext', 'FluxKontextPipeline');
  await register('wan', 'WanPipeline');
  return (await register('paris', 'DDMPipeline')).assetId;
}

/** For tests: starts a server that generates with a stub instead of the Python runtime. */
export async function testGenerations({
  generates = true,
  cpuPlaces = 4,
  clock = fakeClock(),
}: {
  generates?: boolean;
  clock?: FakeClock;
  /** Number of CPU slots for model servers. */
  cpuPlaces?: number;
} = {}) {
  const stub = imageServer();
  const driver = createFakeDriver({ capacity: { 'cpu:deployment': cpuPlaces }, script: stub.script });
  // The worker role, because jobs manage model servers and generate.
  const server = await testServer({ driver, clock, roles: ['web', 'worker', 'reconciler'] });
  if (!generates) await server.app.loops.generations.loop.stop();
  const assetId = await insertImageStarters(server.services);

  const read = (as: TestUser, id: string) => server.request(getGeneration, { params: { id } }, { as });
  const until = async (as: TestUser, id: string, state: GenerationState): Promise<Generation> => {
    await vi.waitFor(async () => expect(await read(as, id)).toMatchObject({ state }), {
      timeout: 15_000,
      interval: 30,
    });
    return read(as, id);
  };
  /** From now on, the model server gets no requests from earlier tests. */
  const untilIdle = () =>
    vi.waitFor(
      async () => {
        clock.advance({ seconds: 1 });
        const open = server.services.db.selectFrom('generations').select('id').where('ended_at', 'is', null);
        expect(await open.execute()).toEqual([]);
      },
      { interval: 30 },
    );
  return {
    ...{ untilIdle, stub, clock, driver, server, assetId, read, until },
    generate: (as: TestUser, parameters: Generation['parameters'] = {}, idempotencyKey?: string) => {
      const body = {
        generator: 'paris' as const,
        prompt: 'A loaf of bread',
        parameters: { num_inference_steps: 10, sampling_strategy: 'topk', k: 2, ...parameters },
      };
      return server.request(startGeneration, { body }, { as, idempotencyKey });
    },
    /** In micro-BGL. */
    balance: async (as: TestUser) => {
      const found = await server.request(getBalance, { params: { userId: as.userId } }, { as });
      return { balance: parseBgl(found.balance), held: parseBgl(found.held) };
    },
  };
}
