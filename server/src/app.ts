import path from 'node:path';
import { parseBgl } from '@bakehouse/contract/money';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createDriver } from './create-driver.ts';
import { authenticateWorkload } from './engine/authenticate-workload.ts';
import { claimMachine, type MachineClaim } from './engine/claim-machine.ts';
import type { Driver } from './engine/drivers/driver.ts';
import { inputCacheDir } from './engine/drivers/local/input-cache.ts';
import { createEngine, type Engine, registerKinds } from './engine/engine.ts';
import { measureWorkloads } from './engine/gauges.ts';
import { keepHeartbeat } from './engine/heartbeat.ts';

import { type CpuLoad, readCpuLoad } from './engine/machine/cpu-load.ts';
import { runtimeDir } from './engine/machine/environment.ts';
import { startPreparing } from './engine/machine/prepare-machine.ts';
import { machineRoutes } from './engine/machine/routes.ts';
import { workloadRoutes } from './engine/routes.ts';
import { authRoutes } from './modules/accounts/auth-routes.ts';
import { authenticateSession } from './modules/accounts/authenticate-session.ts';
import { createAuth } from './modules/accounts/create-auth.ts';
import { deleteExpiredJob } from './modules/accounts/jobs/delete-expired.ts';
import { authenticateKey } from './modules/accounts/keys/authenticate-key.ts';
import type { OnUserCreated } from './modules/accounts/provision-user.ts';
import { accountsRoutes } from './modules/accounts/routes.ts';
import type { FindAssetUse } from './modules/assets/delete-asset.ts';
import { collectBlobsJob } from './modules/assets/jobs/collect-blobs.ts';
import { registerStarterModel } from './modules/assets/register-starter-model.ts';
import { assetsRoutes } from './modules/assets/routes.ts';
import { starterLanguageModel } from './modules/assets/starter-language-model.ts';
import { gatherSends } from './modules/credits/gather-sends.ts';
import { closeLostWindowsJob } from './modules/credits/jobs/close-lost-windows.ts';
import { collectDebtsJob } from './modules/credits/jobs/collect-debts.ts';
import { expireGivenJob } from './modules/credits/jobs/expire-given.ts';
import { expireHoldsJob } from './modules/credits/jobs/expire-holds.ts';
import { keepUsageDaysJob } from './modules/credits/jobs/keep-usage-days.ts';
import { sealTransfersJob } from './modules/credits/jobs/seal-transfers.ts';
import { verifyLedgerJob } from './modules/credits/jobs/verify-ledger.ts';
import { openUserAccount } from './modules/credits/ledger.ts';
import { creditsRoutes } from './modules/credits/routes.ts';
import { UsageLeader } from './modules/credits/usage/usage-leader.ts';
import { withIdleCredit } from './modules/credits/usage/with-idle-credit.ts';
import { findAssetUse as findDeploymentUse } from './modules/deployments/find-asset-use.ts';
import { findDeployObstacle } from './modules/deployments/find-deploy-obstacle.ts';
import { gatewayPresence } from './modules/deployments/gateway-presence.ts';
import { forgetRequestsJob } from './modules/deployments/jobs/forget-requests.ts';
import { meterDeploymentsJob } from './modules/deployments/jobs/meter-deployments.ts';
import { reconcileTextServerJob } from './modules/deployments/jobs/reconcile-text-server.ts';
import { keepRequests } from './modules/deployments/keep-requests.ts';
import { deploymentsRoutes } from './modules/deployments/routes.ts';
import { textServerKind } from './modules/deployments/text-server-kind.ts';
import { estimateLoad } from './modules/training/estimate-load.ts';
import { findAssetUse as findTrainingUse } from './modules/training/find-asset-use.ts';
import { findTrainObstacle } from './modules/training/find-train-obstacle.ts';
import { fineTuneKind } from './modules/training/fine-tune-kind.ts';
import { type ReadData, readData } from './modules/training/read-data.ts';
import { trainingRoutes } from './modules/training/routes.ts';
import { shareReads } from './modules/training/share-reads.ts';
import { operationIds } from './operation-ids.ts';
import type { Clock } from './platform/clock.ts';
import type { Services } from './platform/context.ts';
import { checkWrites } from './platform/db/check-writes.ts';
import { createPool, openDatabase } from './platform/db/database.ts';
import { openDatabaseClock } from './platform/db/database-clock.ts';
import { forgetAnswersJob } from './platform/db/forget-answers.ts';
import { openEvents } from './platform/events/events.ts';
import { logFailedAnnouncements } from './platform/events/publish-change.ts';
import { eventRoutes } from './platform/events/routes.ts';
import type { Binding } from './platform/http/bind.ts';
import { buildHttpServer } from './platform/http/http-server.ts';
import { localUrl } from './platform/http/local-url.ts';
import type { AnyJob } from './platform/jobs/define-job.ts';
import { openJobQueue } from './platform/jobs/job-queue.ts';
import { createMetrics } from './platform/metrics.ts';
import { othersMayRead } from './platform/others-may-read.ts';
import { openLocalBlobStore } from './platform/storage/local-blob-store.ts';
import { measureBlobs } from './platform/storage/measure-blobs.ts';
import { scrubBlobsJob } from './platform/storage/scrub-blobs.ts';
import { findWall } from './platform/walls/find-wall.ts';
import { takeBackFiles } from './platform/walls/lend-files.ts';

/**
 * What a process does: `web` answers HTTP, `worker` runs the finite jobs and schedules,
 * `reconciler` keeps workloads in their wanted state. One process may do all.
 */
export const allRoles = ['web', 'worker', 'reconciler'] as const;
export type Role = (typeof allRoles)[number];

type Options = {
  config: Config;
  /** A migrated database. */
  databaseUrl: string;
  log: Logger;
  clock?: Clock;
  /** Instead of the one that the settings name. */
  driver?: Driver;
  /** Instead of running the Python runtime. */
  readData?: ReadData;
  /** Instead of asking this machine. */
  cpuLoad?: () => CpuLoad;
  roles: Role[];
};

export type App = {
  services: Services;
  http: FastifyInstance;
  engine: Engine;
  usage: UsageLeader;
  /** Begins to do what the roles say; resolves with its public URL, or null without the role web. */
  start: () => Promise<string | null>;
  /**
   * Ends in order: no new requests, those in work are finished, workloads save their work and
   * report it, jobs end, connections close.
   */
  close: () => Promise<void>;
};

/**
 * What requests, jobs and the engine ask takes milliseconds, and work on many rows goes in batches: a
 * minute is trouble. What may take longer (migrations, the proof of the ledger) has connections of its own.
 */
const STATEMENT_MS_MAX = 60_000;
const WEB_DIST = path.resolve(import.meta.dirname, '../../web/dist');

/** Puts the program together from its modules. Nothing runs before `start`. */
export async function createApp(options: Options): Promise<App> {
  const { config, databaseUrl, log, roles, cpuLoad = readCpuLoad } = options;
  const jobs: AnyJob[] = [
    forgetAnswersJob,
    scrubBlobsJob,
    sealTransfersJob,
    expireHoldsJob,
    closeLostWindowsJob,
    keepUsageDaysJob,
    expireGivenJob,
    collectDebtsJob,
    verifyLedgerJob(databaseUrl),
    collectBlobsJob,
    deleteExpiredJob,
    meterDeploymentsJob,
    forgetRequestsJob,
    reconcileTextServerJob,
  ];
  const grantMicro = parseBgl(config.startingGrantBgl);
  const onUserCreated: OnUserCreated[] = [
    (tx, { userId }) =>
      openUserAccount(tx, { userId, grantMicro, expiresAt: daysFrom(clock.now(), config.startingGrantDays) }),
  ];

  const findAssetUses: FindAssetUse[] = [findTrainingUse, findDeploymentUse];

  const pool = createPool(databaseUrl, {
    poolSize: config.databaseConnections,
    statementMsMax: STATEMENT_MS_MAX,
    onIdleError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  const db = openDatabase(pool);
  logFailedAnnouncements(db, log);
  const { clock, close: closeClock } = options.clock
    ? { clock: options.clock, close: () => undefined }
    : await openDatabaseClock(pool, log);
  const events = await openEvents(databaseUrl, log);
  const queue = await openJobQueue({ url: databaseUrl, log, jobs, works: roles.includes('worker') });
  const blobs = await openLocalBlobStore(path.join(config.dataDir, 'blobs'));
  const { wall, line } = await findWall({
    lendingDir: path.join(config.dataDir, 'lent'),
    reads: [runtimeDir],
    // Its `.env` lies beside the runtime.
    hidden: [path.dirname(runtimeDir), config.dataDir, inputCacheDir(config)],
  });
  if (roles.includes('reconciler')) log[wall.kind === 'none' ? 'warn' : 'info'](line);
  const settings = path.join(path.dirname(runtimeDir), '.env');
  if (await othersMayRead(settings))
    log.warn(`Every user of this machine may read ${settings}, workloads too: chmod 600 it`);
  const services: Services = { config, clock, log, db, pool, events, jobs: queue, blobs, wall };

  const kinds = registerKinds([fineTuneKind(clock, cpuLoad), textServerKind(queue)]);
  const driver = options.driver ?? (await createDriver(services));
  let claim: MachineClaim | null = null;
  const engine = createEngine(services, {
    driver,
    kinds,
    databaseUrl,
    // Workloads run on this machine. A proxy before the public URL may limit bodies, or not let this
    // machine in: they go past it, unless it is another process that answers HTTP.
    serverUrl: () => (roles.includes('web') ? localUrl(config) : config.publicUrl),
    mayWork: () => claim?.isHeld() ?? true,
  });
  const metrics = createMetrics(pool);
  measureWorkloads(metrics, db, driver);
  measureBlobs(metrics, db);

  const presence = gatewayPresence(db, log);
  const usage = new UsageLeader(services);
  const bindings: Binding[] = [
    ...eventRoutes,
    ...machineRoutes,
    ...workloadRoutes(kinds),
    ...accountsRoutes,
    ...assetsRoutes({
      findUses: findAssetUses,
      modelUses: { deploy: findDeployObstacle(driver.capacity), train: findTrainObstacle },
    }),
    ...withIdleCredit(usage, [
      ...creditsRoutes({ databaseUrl, send: gatherSends(services) }),
      ...trainingRoutes({
        capacity: driver.capacity,
        readData: options.readData ?? shareReads(readData),
        load: estimateLoad(cpuLoad, driver.capacity),
      }),
      ...deploymentsRoutes({
        capacity: driver.capacity,
        presence,
        usage,
        keepRequest: keepRequests(services),
      }),
    ]),
  ];
  const auth = createAuth(services, onUserCreated);
  const session = authenticateSession(services, auth, onUserCreated);
  const http = await buildHttpServer({
    services,
    metrics,
    checkReady: checkWrites(pool),
    authenticators: {
      key: authenticateKey(services),
      session,
      workload: authenticateWorkload(db),
    },
    bindings,
    plugins: [authRoutes(services, auth, session)],
    operationIds,
    webDist: WEB_DIST,
  });

  events.onReconnect(() => endStreams(http));

  let preparing: ReturnType<typeof startPreparing> | null = null;
  let engineRuns = false;
  let stopHeartbeat: (() => void) | null = null;

  return {
    services,
    http,
    engine,
    usage,
    start: async () => {
      if (roles.includes('reconciler') && driver.endsWithServer) claim = await claimMachine(databaseUrl, log);
      if (roles.includes('web')) {
        presence.start();
        usage.start();
        await http.listen({ port: config.port, host: config.host });
        nameChosenPort(config, http);
        stopHeartbeat = await keepHeartbeat(services);
      }
      if (roles.includes('worker')) {
        await takeBackFiles(wall);
        await queue.work(services);
      }
      // Last: workloads that it starts report to the addresses above.
      if (roles.includes('reconciler')) {
        engineRuns = true;
        await engine.start();
        if (config.prepare)
          preparing = startPreparing(services, (files) =>
            registerStarterModel(services, { ...starterLanguageModel, files }),
          );
      }
      return roles.includes('web') ? config.publicUrl : null;
    },
    close: async () => {
      await http.drain();
      await preparing?.stop();
      // A start that failed before has begun no work, and must not end that of others.
      if (engineRuns) await engine.shutdown();
      stopHeartbeat?.();
      await claim?.release();
      await http.close();
      await usage.close();
      await queue.stop();
      await presence.close();
      await events.close();
      closeClock();
      await db.destroy();
    },
  };
}

/** With port 0 the system chose one, and the default public URL is only known now. */
function nameChosenPort(config: Config, http: FastifyInstance): void {
  const address = http.server.address();
  if (config.port !== 0 || address === null || typeof address === 'string') return;
  config.publicUrl = config.publicUrl.replace(/:0$/, `:${address.port}`);
  config.port = address.port;
}

/** Clients reconnect and read afresh what they may have missed. */
function endStreams(http: FastifyInstance): void {
  for (const close of http.openStreams) close();
}

/** The moment so many days later; null where none are said. */
function daysFrom(start: Date, days: number): Date | null {
  return days === 0 ? null : new Date(start.getTime() + days * 24 * 60 * 60 * 1000);
}
