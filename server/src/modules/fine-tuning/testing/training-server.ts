import { createFakeDriver, idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testServer } from '../../../testing/test-server.ts';
import { type Machine, runCalls } from './run-calls.ts';
import { sourceCalls } from './source-calls.ts';
import { goodData } from './test-run.ts';
import { workloadCalls } from './workload-calls.ts';

/** Starts a server with a scripted machine, a user with a dataset and a base model, and helpers for runs. */
export async function trainingServer(gpus: Gpu[] = []) {
  const machine: Machine = {
    script: idleUntilStopped,
    data: goodData,
    busyThreads: 0,
    meanwhile: async () => {},
    read: undefined,
    readSignal: undefined,
  };
  const clock = fakeClock();
  const driver = createFakeDriver({
    capacity: { 'cpu:run': 1, 'cpu:deployment': 1, gpus },
    script: (launch, process) => machine.script(launch, process),
  });
  const server = await testServer({
    clock,
    driver,
    cpuLoad: () => ({ busyThreads: machine.busyThreads, cores: 2, runThreads: 2 }),
    readData: async (_ctx, input, options) => {
      machine.read = input;
      machine.readSignal = options?.signal;
      await machine.meanwhile();
      return machine.data;
    },
  });
  const user = await server.signUp('Ada');
  const sources = sourceCalls(server);
  const { asset_id: datasetId, base_model: baseId } = await sources.filesOf(user);
  const work = workloadCalls(clock);
  const place = { machine, clock, driver, server, user, datasetId, baseId, ...work };
  return { ...place, ...sources, ...runCalls(place), request: server.request };
}
