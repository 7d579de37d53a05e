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
import { createFakeDriver } from '../../../engine/drivers/fake/fake-driver.ts';
import type { Services } from '../../../platform/context.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { TestDatabase } from '../../../testing/test-database.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { registerStarterModel } from '../../assets/starter/register-starter-model.ts';
import { starterImageModel } from '../../assets/starter/starter-image-model.ts';
import { imageServer } from './image-server.ts';

/** For tests: the starter image model, with weights that nobody will read. */
export async function insertImageStarter(services: Services): Promise<string> {
  const localPath = path.join(services.config.dataDir, 'model_index.json');
  await writeFile(localPath, '{}');
  const files = [{ path: 'model_index.json', localPath }];
  const { assetId } = await registerStarterModel(services, { ...starterImageModel, files });
  return assetId;
}

/** For tests: a server that draws by the stand-in instead of the Python runtime. */
export async function testDrawing(options: { database?: TestDatabase } = {}) {
  const stub = imageServer();
  const clock = fakeClock();
  const driver = createFakeDriver({ capacity: { 'cpu:deployment': 4 }, script: stub.script });
  const server = await testServer({ ...options, driver, clock, roles: ['web', 'worker', 'reconciler'] });
  const assetId = await insertImageStarter(server.services);

  const read = (as: TestUser, id: string) => server.request(getGeneration, { params: { id } }, { as });
  const until = async (as: TestUser, id: string, state: GenerationState): Promise<Generation> => {
    await vi.waitFor(async () => expect(await read(as, id)).toMatchObject({ state }), {
      timeout: 15_000,
      interval: 30,
    });
    return read(as, id);
  };
  return {
    ...{ stub, clock, driver, server, assetId, read, until },
    draw: (as: TestUser, parameters: Generation['parameters'] = {}, idempotencyKey?: string) => {
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
