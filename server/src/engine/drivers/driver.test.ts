import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { noSandbox } from '../../platform/sandbox/sandbox.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { suiteScript, testDriver } from '../testing/driver-suite.ts';
import type { Driver } from './driver.ts';
import { createFakeDriver } from './fake/fake-driver.ts';
import { createLocalDriver } from './local/local-driver.ts';

const kept = { by: 'itself', lastLine: 'saved', folder: 'kept' } as const;
await testDriver('local', createLocal, kept);
await testDriver(
  'fake',
  async () => createFakeDriver({ capacity: { 'cpu:run': 1 }, script: suiteScript }),
  kept,
);

async function createLocal(): Promise<Driver> {
  const dir = await temporaryFolder();
  return createLocalDriver({
    host: '127.0.0.1',
    workloadsDir: path.join(dir, 'workloads'),
    sandbox: noSandbox(path.join(dir, 'lent')),
    capacity: async () => ({ 'cpu:run': 1 }),
    program: async () => ({
      argv: [process.execPath, fileURLToPath(import.meta.resolve('../testing/scripted-workload.ts'))],
      env: {},
      reads: [],
      pull: null,
    }),
  });
}
