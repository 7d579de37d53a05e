import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Wall } from '../../../platform/walls/wall.ts';
import { atLowPriority } from '../../machine/runtime-command.ts';
import type { Observed } from '../../plan.ts';
import type { Capacity } from '../../queue.ts';
import { type Driver, type Launch, type SpecKind, specKind } from '../driver.ts';
import { boundLog, readLastLines, readLinesFrom } from './log-file.ts';
import { groupExists, readBirth } from './process-identity.ts';
import { workloadUsers } from './workload-users.ts';

/** The program that executes a spec: what it does and the path of the spec follow as the last arguments. */
export type Program = {
  argv: string[];
  env: Record<string, string>;
  /** Folders that the program itself lies in. */
  reads: string[];
  /** Brings the inputs of a spec here and then becomes the command that follows; null: there are none to bring. */
  pull: ((specFile: string) => string[]) | null;
};

type Options = {
  /** Each workload has a folder of its own in here. */
  workloadsDir: string;
  /** What each workload is kept behind. */
  wall: Wall;
  capacity: () => Promise<Capacity>;
  /** The program for a spec, or the sentence that says why there is none yet. */
  program: (spec: SpecKind) => Promise<Program | { blocker: string }>;
};

const LAUNCHER = fileURLToPath(new URL('./launch.sh', import.meta.url));
/** Behind the wall, as the workload's user: what it makes, and what libraries keep for the next time, is shared with nobody. */
const BEGIN = `umask 077
cd "$1" || exit 1
export HOME="$1" TORCHINDUCTOR_CACHE_DIR="$1/.cache/torchinductor"
shift
exec "$@"`;
const CLOSED = 'closed';
const BIRTH_TIMEOUT_MS = 10_000;

/**
 * Runs workloads as child processes of this machine. They are leaders of their own process groups
 * and outlive the server; one that comes back finds them by the files of their attempts:
 *
 *   <id>/attempts/<n>        who runs attempt n: process id and birth, or 'closed'
 *   <id>/attempts/<n>.exit   the status that it ended with
 *   <id>/attempts/<n>.json   its spec
 *   <id>/output.log          what all attempts print
 *   <id>/inputs/             what it works on, brought here before it begins
 *   <id>/work/               the workload's own files; they survive a restart
 *
 * Behind the wall a workload may write to the last one alone, and read the inputs and its spec.
 */
export function createLocalDriver(options: Options): Driver {
  const listeners: ((workloadId: string) => void)[] = [];
  const users = workloadUsers(options.wall, options.workloadsDir);
  const folder = (workloadId: string) => path.join(options.workloadsDir, workloadId);
  const attemptFile = (workloadId: string, attempt: number) =>
    path.join(folder(workloadId), 'attempts', String(attempt));

  async function start(launch: Launch): Promise<void> {
    const program = await options.program(specKind(launch.spec));
    if ('blocker' in program) throw new Error(program.blocker);
    const { workloadId, attempt } = launch;
    const dir = folder(workloadId);
    const file = attemptFile(workloadId, attempt);
    const specFile = `${file}.json`;
    const places = { work: path.join(dir, 'work'), inputs: path.join(dir, 'inputs') };
    await mkdir(path.join(dir, 'attempts'), { recursive: true, mode: 0o711 });
    for (let earlier = 1; earlier < attempt; earlier += 1) await close(workloadId, earlier);

    const user = await users.own(dir);
    await mkdir(places.inputs, { recursive: true, mode: 0o755 });
    await writeFile(specFile, JSON.stringify(fullSpec(launch, places)), { mode: 0o600 });
    if (options.wall.kind === 'user') await chown(specFile, user, user);
    const command = await options.wall.enclose({
      argv: ['/bin/sh', '-c', BEGIN, 'sh', places.work, ...program.argv, launch.spec.kind, specFile],
      cwd: places.work,
      reads: [...program.reads, places.inputs, specFile],
      writes: [places.work],
      user,
    });
    const log = await open(path.join(dir, 'output.log'), 'a', 0o600);
    try {
      const pull = program.pull?.(specFile) ?? [];
      const child = spawn(
        '/bin/sh',
        [LAUNCHER, file, `${file}.exit`, ...politely(launch), ...pull, ...command],
        {
          // What runs in front of the wall takes no code and no settings from a folder of the workload.
          cwd: dir,
          detached: true,
          stdio: ['ignore', log.fd, log.fd],
          env: { ...program.env, ...showGpus(launch) },
        },
      );
      child.once('exit', () => {
        for (const listener of listeners) listener(workloadId);
      });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      child.unref();
      await waitForBirth(file, child).catch(async (error: unknown) => {
        // One that is only slow must not begin when its slot has gone to another.
        await close(workloadId, attempt);
        if (!hasEnded(child) && child.pid !== undefined) signal(-child.pid, 'SIGKILL');
        throw error;
      });
    } finally {
      await log.close();
    }
  }

  /** Takes the attempt's file, so that a launcher that comes late ends; or kills who has taken it. */
  async function close(workloadId: string, attempt: number): Promise<void> {
    const file = attemptFile(workloadId, attempt);
    const taken = await writeFile(file, CLOSED, { flag: 'wx' }).then(
      () => false,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return true;
        throw error;
      },
    );
    if (taken) await kill(workloadId, attempt);
    await rm(`${file}.json`, { force: true });
  }

  async function observe(workloadId: string, attempt: number): Promise<Observed> {
    const owner = await readOwner(attemptFile(workloadId, attempt));
    if (owner === null) return { state: 'absent' };
    const log = path.join(folder(workloadId), 'output.log');
    await boundLog(log);
    if (await isAlive(owner)) return { state: 'alive' };
    // The leader is gone: nothing that it started may go on working without it.
    await killAll(workloadId, attempt, owner);
    const exit = await readFile(`${attemptFile(workloadId, attempt)}.exit`, 'utf8').catch(() => '');
    const [lastLine = null] = await readLastLines(log, 1);
    return { state: 'ended', exitCode: exit.trim() === '' ? null : Number(exit), lastLine };
  }

  async function stop(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(attemptFile(workloadId, attempt));
    if (owner && (await isAlive(owner))) signal(owner.pid, 'SIGTERM');
  }

  async function kill(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(attemptFile(workloadId, attempt));
    if (owner) await killAll(workloadId, attempt, owner);
  }

  /**
   * Ends what an attempt has started; of a user of its own also what has left the group. A later
   * attempt has the same user, and began when nothing of this one was left.
   */
  async function killAll(workloadId: string, attempt: number, owner: Owner): Promise<void> {
    await killGroup(owner);
    const attempts = await attemptsOf(workloadId);
    if (Math.max(...attempts) <= attempt) await users.killAll(folder(workloadId));
  }

  /** The attempts of a workload that somebody has taken. */
  async function attemptsOf(workloadId: string): Promise<number[]> {
    const names = await readdir(path.join(folder(workloadId), 'attempts')).catch(() => []);
    return names.filter((name) => /^\d+$/.test(name)).map(Number);
  }

  return {
    endsWithServer: true,
    start,
    observe,
    stop,
    kill,
    capacity: options.capacity,
    blocker: async (spec) => {
      const program = await options.program(spec);
      return 'blocker' in program ? program.blocker : null;
    },
    logs: (workloadId, limit) => readLastLines(path.join(folder(workloadId), 'output.log'), limit),
    output: (workloadId, offset) => readLinesFrom(path.join(folder(workloadId), 'output.log'), offset),
    remove: async (workloadId) => {
      for (const attempt of await attemptsOf(workloadId)) await kill(workloadId, attempt);
      // A link that it puts in the way while the folder is deleted would lead out of it.
      await users.killAll(folder(workloadId));
      await rm(folder(workloadId), { recursive: true, force: true });
    },
    onEnd: (listener) => {
      listeners.push(listener);
    },
  };
}

function fullSpec(launch: Launch, places: { work: string; inputs: string }) {
  return {
    ...launch.spec,
    workload_id: launch.workloadId,
    server: launch.server,
    ...(launch.spec.kind === 'serve' && { api_key: launch.serverKey }),
    work_dir: places.work,
    inputs_dir: places.inputs,
  };
}

type Owner = { pid: number; birth: string };

/** Who runs an attempt; null when nobody has begun it, or it is closed. */
async function readOwner(file: string): Promise<Owner | null> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null || text === CLOSED) return null;
    // Between the creation of the file and its one line.
    if (!text.endsWith('\n') && (await isYoung(file))) {
      await sleep(5);
      continue;
    }
    const [pid = '', ...birth] = text.trim().split(' ');
    return { pid: Number(pid), birth: birth.join(' ') };
  }
}

async function isYoung(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return false;
  const { mtimeMs } = await handle.stat();
  await handle.close();
  return Date.now() - mtimeMs < BIRTH_TIMEOUT_MS;
}

async function isAlive(owner: Owner): Promise<boolean> {
  return (await readBirth(owner.pid)) === owner.birth;
}

async function waitForBirth(file: string, launcher: ChildProcess): Promise<void> {
  const deadline = Date.now() + BIRTH_TIMEOUT_MS;
  for (;;) {
    const ended = hasEnded(launcher);
    if ((await readOwner(file)) !== null) return;
    if (ended) throw new Error('The process did not begin');
    if (Date.now() > deadline)
      throw new Error(`The process did not begin within ${BIRTH_TIMEOUT_MS / 1000} s`);
    await sleep(5);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Kills the leader and all of its group, unless the process id has gone to somebody else since. */
async function killGroup(owner: Owner): Promise<void> {
  const birth = await readBirth(owner.pid);
  if (birth !== null && birth !== owner.birth) return;
  if (groupExists(owner.pid)) signal(-owner.pid, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** CUDA's own order is by speed; the numbers of the slots are those of nvidia-smi, which go by the bus. */
function showGpus({ devices }: Launch): Record<string, string> {
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: devices.join(',') };
}

/** A run on a GPU keeps its priority: it takes little of the processor, and a late step leaves the GPU idle. */
function politely(launch: Launch): string[] {
  return launch.behaviour === 'run' && launch.devices.length === 0 ? atLowPriority : [];
}
