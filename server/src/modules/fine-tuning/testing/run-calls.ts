import { createAsset } from '@bakehouse/contract/assets';
import { getBalance } from '@bakehouse/contract/credits';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { listNotifications } from '@bakehouse/contract/notifications';
import { listRuns } from '@bakehouse/contract/runs';
import { expect, vi } from 'vitest';
import type { Launch } from '../../../engine/drivers/driver.ts';
import type { createFakeDriver, FakeProcess, Script } from '../../../engine/drivers/fake/fake-driver.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import type { DataToRead } from '../validation/read-data.ts';
import type { goodData } from './test-run.ts';
import { step, type workloadCalls } from './workload-calls.ts';

/** How the test's machine reads files and trains. */
export type Machine = {
  /** Behavior of a run. */
  script: Script;
  /** Result of reading a data file. */
  data: typeof goodData;
  busyThreads: number;
  /** Called after the sources were first checked, before the transaction that starts the run. */
  meanwhile: () => Promise<unknown>;
  /** Input of the last reading. */
  read: DataToRead | undefined;
  /** Signal of the last reading. */
  readSignal: AbortSignal | undefined;
};

type Payload = NonNullable<NonNullable<CallOf<typeof createAsset>['body']>['fine_tune_payload']>;
type Start = { as?: TestUser; payload?: Partial<Payload>; key?: string; title?: string };

type Place = {
  machine: Machine;
  clock: FakeClock;
  driver: ReturnType<typeof createFakeDriver>;
  server: TestServer;
  user: TestUser;
  datasetId: string;
  baseId: string;
} & ReturnType<typeof workloadCalls>;

/** Helpers to start and follow runs, for `user` by default. */
export function runCalls(place: Place) {
  const { server, user } = place;
  const runOf = async (modelId: string, as = user) => {
    const { runs } = await server.request(listRuns, { query: { model_id: modelId } }, { as });
    const [run] = runs;
    if (!run || runs.length !== 1) throw new Error(`${runs.length} runs of ${modelId}`);
    return run;
  };
  const start = (options: Start = {}) => startRun(place, options);
  return {
    start,
    runOf,
    /** Returns the kinds of notifications about this run. */
    notificationsOf: async (runId: string, as = user) => {
      const all = await server.request(listNotifications, { params: { userId: as.userId } }, { as });
      return all.filter(({ link }) => link === `/runs/${runId}`).map(({ kind }) => kind);
    },
    balance: (as = user) => server.request(getBalance, { params: { userId: as.userId } }, { as }),
    /** Waits until the run has ended. The clock advances only while no workload runs. */
    ended: (modelId: string, as = user) =>
      vi.waitFor(
        async () => {
          if (place.driver.running().length === 0) place.clock.advance({ seconds: 4 });
          await server.app.engine.pass();
          expect((await runOf(modelId, as)).ended_at).not.toBeNull();
        },
        { interval: 20 },
      ),
    /** Starts a run and does this once it runs. */
    begin: async (work: (launch: Launch, process: FakeProcess) => Promise<number>, options: Start = {}) => {
      const begun = Promise.withResolvers<Launch>();
      place.machine.script = async (launch, process) => {
        await place.workload(launch).report(step(1));
        begun.resolve(launch);
        return work(launch, process);
      };
      const modelId = await start(options);
      await server.app.engine.pass();
      return { modelId, launch: await begun.promise };
    },
  };
}

function startRun({ server, user, datasetId, baseId }: Place, options: Start): Promise<string> {
  const { as = user, payload, key, title = 'my model' } = options;
  return server.request(
    createAsset,
    {
      body: {
        dataset_type: 'MODEL',
        title,
        user_id: as.userId,
        fine_tune_payload: {
          asset_id: datasetId,
          base_model: baseId,
          model_name: title,
          file_name: 'rows.csv',
          user_id: as.userId,
          input_column: 'question',
          output_column: 'answer',
          ...payload,
        },
      },
    },
    { as, idempotencyKey: key },
  );
}
