import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { checkReady } from './check-ready.ts';
import type { Config } from './config.ts';
import { createDriver } from './create-driver.ts';
import type { Driver } from './engine/drivers/driver.ts';
import { createEngine, type Engine, registerKinds } from './engine/engine.ts';
import { readCpuLoad } from './engine/host/machine-cpu.ts';
import { startPreparing } from './engine/host/preparation/prepare-machine.ts';
import { claimMachine, type MachineClaim } from './engine/machines/claim-machine.ts';
import { findWorkloadServer } from './engine/machines/find-workload-server.ts';
import { installationCapacity } from './engine/machines/join-installation.ts';
import type { CpuLoad } from './engine/model/offer.ts';
import { listJobs, listLoops } from './list-work.ts';
import { UsageLeader } from './modules/billing/usage/usage-leader.ts';
import { modelServerKind } from './modules/deployments/servers/model-servers.ts';
import { type ReadPictures, readPicturesQueued } from './modules/fine-tuning/pictures/read-pictures.ts';
import { fineTuneKind } from './modules/fine-tuning/runs/fine-tune-kind.ts';
import { deduplicateReads } from './modules/fine-tuning/validation/deduplicate-reads.ts';
import { type ReadData, readData } from './modules/fine-tuning/validation/read-data.ts';
import { registerBuiltInStarters } from './modules/models/starter/register-starters.ts';
import { openChat } from './open-chat.ts';
import { clusterEngine } from './open-cluster.ts';
import { openHttp } from './open-http.ts';
import { openServices } from './open-services.ts';
import type { Clock } from './platform/clock.ts';
import { runAllSteps } from './platform/concurrency/one-at-a-time.ts';
import type { Services } from './platform/context.ts';
import { type ErrorReports, noErrorReports } from './platform/error-reports/error-reports.ts';
import { serverStops } from './platform/http/graceful-close.ts';
import { buildMonitoringServer } from './platform/http/monitoring/monitoring.ts';
import { createMetrics } from './platform/metrics.ts';
import { removeSharedFiles } from './platform/sandbox/share-files.ts';
import type { Role } from './roles.ts';

type Options = {
  config: Config;
  /** URL of a database that is already migrated. */
  databaseUrl: string;
  log: Logger;
  clock?: Clock;
  /** Replaces the driver that the settings select. */
  driver?: Driver;
  /** Replaces reading data files with the Python runtime. */
  readData?: ReadData;
  /** Reads images for validation. Defaults to the Python runtime. */
  readPictures?: ReadPictures;
  /** Replaces measuring this machine's load. */
  cpuLoad?: () => CpuLoad;
  /** Defaults to none. */
  errorReports?: ErrorReports;
  /** Whether scheduled jobs start automatically. Defaults to true. */
  schedules?: boolean;
  roles: Role[];
};

export type App = {
  services: Services;
  http: FastifyInstance;
  engine: Engine;
  usage: UsageLeader;
  loops: ReturnType<typeof listLoops>;
  /** Starts the roles. Returns the public URL, or null without the web role. */
  start: () => Promise<string | null>;
  /**
   * Shuts down in this order: stops accepting requests, lets open ones finish (for 20 s by default, then cuts
   * them), lets workloads save and report their work, ends jobs, and closes connections.
   */
  close: () => Promise<void>;
};

/** Creates the server from its modules. Nothing runs before `start`. */
export async function createApp(options: Options): Promise<App> {
  const { config, databaseUrl, roles, cpuLoad = readCpuLoad, errorReports = noErrorReports } = options;
  const readFile = options.readData ?? deduplicateReads(readData);
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
    readPictures: options.readPictures ?? readPicturesQueued,
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

/** Web processes serve monitoring on their main port; other processes need a port for it. */
function openMonitoring(
  services: Services,
  roles: Role[],
  isReady: () => Promise<void>,
): FastifyInstance | null {
  const { config, pool } = services;
  if (roles.includes('web') || config.monitoringPort === null) return null;
  return buildMonitoringServer({ services, metrics: createMetrics(pool), checkReady: isReady });
}

/** This server's claim on the machine. Null before `start`, or if the driver needs none. */
type Claim = { held: MachineClaim | null };

type Parts = Awaited<ReturnType<typeof openServices>> &
  Pick<App, 'engine' | 'usage' | 'http' | 'loops'> & {
    /** Engine for work in a cluster; null if no cluster is configured. */
    ofCluster: Pick<Engine, 'start' | 'shutdown'> | null;
    /** Monitoring server of a process without the web role; null if no port is configured. */
    monitoring: FastifyInstance | null;
    databaseUrl: string;
    roles: Role[];
    driver: Driver;
    claim: Claim;
    /** Aborts background work, and responses that are still open. */
    closing: AbortController;
  };

/** Returns `start` and `close`, which define the order of startup and shutdown. */
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
        // The hourly job tries again.
        await removeSharedFiles(sandbox).catch((err: unknown) =>
          log.warn({ err }, 'failed to delete shared files'),
        );
        await queue.work(services);
      }
      for (const { role, loop } of loops) if (roles.includes(role)) loop.start();
      // Start the engine last, because its workloads report to the addresses above.
      if (roles.includes('reconciler')) {
        engineRuns = true;
        await engine.start();
        await parts.ofCluster?.start();
        if (config.prepare) preparing = startPreparing(services, registerBuiltInStarters(services));
      }
      return roles.includes('web') ? config.publicUrl : null;
    },
    close: () =>
      runAllSteps([
        () => http.drain(),
        () => parts.closing.abort(serverStops()),
        // Stop generating before the model servers stop, so that interrupted generations return to the queue.
        () => Promise.all(loops.map(({ loop }) => loop.stop())),
        () => preparing?.stop(),
        // If startup failed before the engine ran, the running work may belong to another process.
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

/** With port 0 the system chooses the port, so the default public URL is known only now. */
function nameChosenPort(config: Config, http: FastifyInstance): void {
  const address = http.server.address();
  if (config.port !== 0 || address === null || typeof address === 'string') return;
  config.publicUrl = config.publicUrl.replace(/:0$/, `:${address.port}`);
  config.port = address.port;
}
