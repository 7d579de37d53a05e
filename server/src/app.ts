import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { checkReady } from './check-ready.ts';
import type { Config } from './config.ts';
import { createDriver } from './create-driver.ts';
import type { Driver } from './engine/drivers/driver.ts';
import { createEngine, type Engine, registerKinds } from './engine/engine.ts';
import { readCpuLoad } from './engine/host/cpu-load.ts';
import { startPreparing } from './engine/host/preparation/prepare-machine.ts';
import { claimMachine, type MachineClaim } from './engine/machines/claim-machine.ts';
import { findWorkloadServer } from './engine/machines/find-workload-server.ts';
import { installationCapacity } from './engine/machines/installation-capacity.ts';
import type { CpuLoad } from './engine/model/offer.ts';
import { listJobs, listLoops } from './list-work.ts';
import { UsageLeader } from './modules/credits/usage/usage-leader.ts';
import { modelServerKind } from './modules/deployments/servers/model-server-kind.ts';
import { registerOwnStarters } from './modules/models/starter/register-own-starters.ts';
import type { ReadPictures } from './modules/training/pictures/read-pictures.ts';
import { readPicturesInTurn } from './modules/training/pictures/read-pictures-in-turn.ts';
import { fineTuneKind } from './modules/training/runs/fine-tune-kind.ts';
import { type ReadData, readData } from './modules/training/validation/read-data.ts';
import { shareReads } from './modules/training/validation/share-reads.ts';
import { openChat } from './open-chat.ts';
import { clusterEngine } from './open-cluster.ts';
import { openHttp } from './open-http.ts';
import { openServices } from './open-services.ts';
import type { Clock } from './platform/clock.ts';
import { endInOrder } from './platform/concurrency/end-in-order.ts';
import type { Services } from './platform/context.ts';
import { type ErrorReports, noErrorReports } from './platform/error-reports/error-reports.ts';
import { serverStops } from './platform/http/graceful-close.ts';
import { buildMonitoringServer } from './platform/http/monitoring/monitoring-server.ts';
import { createMetrics } from './platform/metrics.ts';
import { removeSharedFiles } from './platform/sandbox/share-files.ts';
import type { Role } from './roles.ts';

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
  /** How pictures are read for validation: by the Python runtime unless said. */
  readPictures?: ReadPictures;
  /** Instead of asking this machine. */
  cpuLoad?: () => CpuLoad;
  /** None unless said. */
  errorReports?: ErrorReports;
  /** Whether jobs that have a time begin by themselves; yes unless said. */
  schedules?: boolean;
  roles: Role[];
};

export type App = {
  services: Services;
  http: FastifyInstance;
  engine: Engine;
  usage: UsageLeader;
  loops: ReturnType<typeof listLoops>;
  /** Begins to do what the roles say; resolves with its public URL, or null without the role web. */
  start: () => Promise<string | null>;
  /**
   * Ends in order: no new requests, those in work are finished or, after a while (20 s unless set), cut, workloads save their work and
   * report it, jobs end, connections close.
   */
  close: () => Promise<void>;
};

/** Puts the program together from its modules. Nothing runs before `start`. */
export async function createApp(options: Options): Promise<App> {
  const { config, databaseUrl, roles, cpuLoad = readCpuLoad, errorReports = noErrorReports } = options;
  const readFile = options.readData ?? shareReads(readData);
  const closing = new AbortController();
  const jobs = listJobs({
    databaseUrl,
    readData: readFile,
    closeIdle: (userId) => usage.closeIdle(userId),
  });
  const opened = await openServices({ ...options, jobs, closing: closing.signal });
  const { services, presence, shares } = opened;
  const usage = new UsageLeader(services);
  const kinds = registerKinds([
    fineTuneKind(services, usage),
    modelServerKind(services.jobs, services.clock),
  ]);
  const driver = options.driver ?? (await createDriver(services));
  const claim: Claim = { held: null };
  const engine = createEngine(services, {
    driver,
    kinds,
    machineId: services.machineId,
    serverUrl: () => findWorkloadServer(services.db, config, roles),
    mayWork: () => claim.held?.isHeld() ?? true,
    cpuLoad,
  });
  const { cluster } = config;
  const ofCluster =
    cluster && roles.includes('reconciler') ? clusterEngine({ services, kinds, cluster }) : null;
  const isReady = checkReady(services, { roles });
  const chat = openChat({ services, driver, usage, presence, shares });
  const http = await openHttp({
    ...{ services, kinds, driver, usage, chat, cpuLoad, errorReports },
    checkReady: isReady,
    readData: readFile,
    readPictures: options.readPictures ?? readPicturesInTurn,
  });
  const loops = listLoops({
    ...{ services, chat },
    serving: { usage, capacity: () => installationCapacity(services.db, driver.capacity) },
  });
  const monitoring = openMonitoring(services, roles, isReady);
  const { start, close } = lifeOf({
    ...{ ...opened, databaseUrl, roles, driver, claim, engine, ofCluster, usage, http },
    ...{ loops, monitoring, closing },
  });
  return { services, http, engine, usage, loops, start, close };
}

/** A process with the role web says how it is where it answers everything else. */
function openMonitoring(
  services: Services,
  roles: Role[],
  isReady: () => Promise<void>,
): FastifyInstance | null {
  const { config, pool } = services;
  if (roles.includes('web') || config.monitoringPort === null) return null;
  return buildMonitoringServer({ services, metrics: createMetrics(pool), checkReady: isReady });
}

/** This server's claim on its machine; null before `start`, and where the machine needs none. */
type Claim = { held: MachineClaim | null };

type Parts = Awaited<ReturnType<typeof openServices>> &
  Pick<App, 'engine' | 'usage' | 'http' | 'loops'> & {
    /** Of the work in a cluster; null without one. */
    ofCluster: Pick<Engine, 'start' | 'shutdown'> | null;
    /** Where a process without the role web says how it is; null where it has no port for that. */
    monitoring: FastifyInstance | null;
    databaseUrl: string;
    roles: Role[];
    driver: Driver;
    claim: Claim;
    /** Ends what goes on in the background, and answers that have not ended by themselves. */
    closing: AbortController;
  };

/** In which order the parts begin, and end. */
function lifeOf(parts: Parts): Pick<App, 'start' | 'close'> {
  const { services, queue, roles, heartbeat, databaseUrl, driver, claim, engine, usage, http } = parts;
  const { config, log, sandbox } = services;
  const loops = Object.values(parts.loops);
  let preparing: ReturnType<typeof startPreparing> | null = null;
  let engineRuns = false;
  return {
    start: async () => {
      if (roles.includes('reconciler') && driver.endsWithServer)
        claim.held = await claimMachine(databaseUrl, log);
      if (roles.includes('web')) {
        usage.start();
        await http.listen({ port: config.port, host: config.host });
        nameChosenPort(config, http);
      }
      await parts.monitoring?.listen({ port: config.monitoringPort ?? 0, host: config.host });
      await heartbeat.start();
      if (roles.includes('worker')) {
        await removeSharedFiles(sandbox);
        await queue.work(services);
      }
      for (const { role, loop } of loops) if (roles.includes(role)) loop.start();
      // Last: workloads that it starts report to the addresses above.
      if (roles.includes('reconciler')) {
        engineRuns = true;
        await engine.start();
        await parts.ofCluster?.start();
        if (config.prepare) preparing = startPreparing(services, registerOwnStarters(services));
      }
      return roles.includes('web') ? config.publicUrl : null;
    },
    close: () =>
      endInOrder([
        () => http.drain(),
        () => parts.closing.abort(serverStops()),
        // Before the model servers end: what they generate goes back to its queue.
        () => Promise.all(loops.map(({ loop }) => loop.stop())),
        () => preparing?.stop(),
        // A start that failed before has begun no work, and must not end that of others.
        () => engineRuns && engine.shutdown(),
        () => parts.ofCluster?.shutdown(),
        () => claim.held?.release(),
        () => http.close(),
        () => usage.close(),
        () => queue.stop(),
        () => heartbeat.close(),
        () => parts.monitoring?.close(),
        () => parts.close(),
      ]),
  };
}

/** With port 0 the system chose one, and the default public URL is only known now. */
function nameChosenPort(config: Config, http: FastifyInstance): void {
  const address = http.server.address();
  if (config.port !== 0 || address === null || typeof address === 'string') return;
  config.publicUrl = config.publicUrl.replace(/:0$/, `:${address.port}`);
  config.port = address.port;
}
