import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { type App, createApp } from './app.ts';
import { type Config, readConfig, removedSettings, unknownSettings } from './config.ts';
import { requireShared } from './open-services.ts';
import { prepareDatabase } from './platform/db/setup/prepare-database.ts';
import { watchMigrations } from './platform/db/setup/watch-migrations.ts';
import {
  type ErrorReports,
  noErrorReports,
  openErrorReports,
} from './platform/error-reports/error-reports.ts';
import { reportLogged } from './platform/error-reports/report-logged.ts';
import { makeDataDir, readOrMakeSecret } from './platform/files/data-files.ts';
import { createLog } from './platform/log.ts';
import { type SupervisedPostgres, supervisePostgres } from './platform/postgres/supervise-postgres.ts';
import { allRoles, type Role } from './roles.ts';

/** A new database needs 40 MB. The disk must not become full while it is created. */
const FREE_BYTES_MIN = 200 * 1024 * 1024;
/** How long a process that shuts down tries to send its last error report. */
const REPORT_MS = 5_000;

/** Runs the server until it is stopped. `--services=web,worker,reconciler` selects its roles (all). */
async function main(): Promise<void> {
  const roles = readRoles();
  const config = readConfig(process.env);
  const warn = (sentence: string) => log.warn(sentence);
  const errorReports = config.sentry ? openErrorReports(config.sentry, { warn }) : noErrorReports;
  const log = createLog(config, {
    onError: (fields, message) => reportLogged(errorReports, fields, message),
  });
  for (const name of unknownSettings(process.env)) {
    const instead = removedSettings[name] ?? 'see .env.example for all settings';
    log.warn(`Unknown setting ${name} is ignored: ${instead}`);
  }
  endOnUncaughtError(errorReports, log);
  // Print startup and fatal messages at any log level, as plain text or JSON depending on the log format.
  const lines = config.logFormat === 'json' ? log.child({}, { level: 'info' }) : null;
  try {
    const ready = await run({ config, log, errorReports, roles });
    if (lines) lines.info(ready);
    else console.log(ready);
    process.send?.({ ready }, () => undefined);
  } catch (error) {
    if (!lines) throw error;
    lines.fatal(describe(error));
    process.exit(1);
  }
}

type Parts = { config: Config; log: Logger; errorReports: ErrorReports; roles: Role[] };

/** Starts the server. Returns the startup message. */
async function run({ config, log, errorReports, roles }: Parts): Promise<string> {
  requireShared(config, roles);
  await prepareDataDir(config.dataDir);
  config.secret ??= await readOrMakeSecret(config.dataDir);

  let postgres: SupervisedPostgres | null = null;
  let app: App | null = null;
  let unwatch = () => {};
  const start = async () => {
    if (!config.databaseUrl) postgres = await supervisePostgres(path.join(config.dataDir, 'postgres'), log);
    const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
    await prepareDatabase(databaseUrl);
    app = await createApp({ config, databaseUrl, log, errorReports, roles });
    unwatch = await watchMigrations(app.services.db, { onUnknown: (name) => endOutdated(name, log) });
    return app.start();
  };
  const stop = async () => {
    unwatch();
    await app?.close();
    await postgres?.stop();
    await errorReports.close();
  };

  const starting = start();
  endOnSignal(() => starting.then(stop, stop), log);
  try {
    const url = await starting;
    return url ? `Bakehouse is ready at ${url}` : `Bakehouse is ready: ${roles.join(', ')}`;
  } catch (error) {
    await stop().catch((cause: unknown) => log.warn({ err: cause }, 'shutdown failed'));
    throw error;
  }
}

function readRoles(): Role[] {
  const { values } = parseArgs({ options: { services: { type: 'string', default: allRoles.join(',') } } });
  return values.services.split(',').map((name) => {
    const role = allRoles.find((one) => one === name.trim());
    if (!role) throw new Error(`--services: unknown role '${name}'; the roles are ${allRoles.join(', ')}`);
    return role;
  });
}

async function prepareDataDir(dir: string): Promise<void> {
  makeDataDir(dir);
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (free < FREE_BYTES_MIN) {
    throw new Error(
      `The disk of ${dir} has only ${Math.floor(free / 2 ** 20)} MB free: Bakehouse needs ${FREE_BYTES_MIN / 2 ** 20} MB to start`,
    );
  }
}

/**
 * The first signal shuts down gracefully, a second one exits immediately. The server also shuts down if its
 * supervisor closes the IPC channel or dies.
 */
function endOnSignal(stop: () => Promise<void>, log: Logger): void {
  let signals = 0;
  let stopping = false;
  const drain = (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal: reason }, 'stopping');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed');
        process.exit(1);
      },
    );
  };
  const onSignal = (signal: NodeJS.Signals) => {
    signals += 1;
    if (signals > 1) process.exit(1);
    drain(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('disconnect', () => drain('disconnect'));
  if (process.send && !process.connected) drain('disconnect');
}

/** A newer version has migrated the database, so shut down gracefully, as after SIGTERM. */
function endOutdated(migration: string, log: Logger): void {
  log.warn(`Shutting down: another version of Bakehouse has migrated the database (${migration})`);
  process.kill(process.pid, 'SIGTERM');
}

/** After an uncaught exception the process's state is unknown. Exit, and let the supervisor restart it. */
function endOnUncaughtError(errorReports: ErrorReports, log: Logger): void {
  // Ignore this error: the terminal or pager that read the log has closed.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    const end = () => process.exit(1);
    setTimeout(end, REPORT_MS);
    errorReports.close().then(end, end);
  });
}

/** Returns a startup error as one sentence that tells the operator what to do. */
function describe(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is already in use: choose another port with --port, or stop the program that uses it`;
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} requires root privileges: choose a port above 1023`;
  if (code === 'ENOSPC') return 'The disk is full: free some space and start again';
  return error instanceof Error ? error.message : String(error);
}

try {
  await main();
} catch (error) {
  console.error(`bakehouse: ${describe(error)}`);
  process.exit(1);
}
