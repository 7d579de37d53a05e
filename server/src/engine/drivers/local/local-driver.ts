import { chown, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RUNTIME_PROTOCOL } from '@bakehouse/contract/runtime/workload-spec';
import { atLowPriority } from '../../../platform/processes/processes.ts';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import { machineCpu } from '../../host/machine-cpu.ts';
import type { Capacity } from '../../model/capacity.ts';
import type { Observed } from '../../model/observed.ts';
import { type SpecKind, specKind } from '../../model/spec-kind.ts';
import { CannotStartError, type Driver, type Launch } from '../driver.ts';
import { Attempts, isAlive, readOwner } from './attempts.ts';
import { launchProcess } from './launch-process.ts';
import { readLastLines, readLinesFrom, truncateLog } from './log-file.ts';
import { watchProcessorTime } from './processor-time.ts';
import { workloadUsers } from './workload-users.ts';

/** Program that executes a spec; the command and the path of the spec are appended as arguments. */
export type Program = {
  argv: string[];
  env: Record<string, string>;
  /** Folders of the program itself, readable in the sandbox. */
  reads: string[];
  /**
   * Command prefix that fetches a spec's inputs and then executes the command after it; null if there is
   * nothing to fetch.
   */
  pull: ((specFile: string) => string[]) | null;
};

type Options = {
  /** Holds a folder for each workload. */
  workloadsDir: string;
  /** Host at which model servers listen and are called. */
  host: string;
  sandbox: Sandbox;
  capacity: () => Promise<Capacity>;
  /** Returns the program for a spec. If there is none yet, returns a sentence that explains why. */
  program: (spec: SpecKind) => Promise<Program | { blocker: string }>;
};

/** In the sandbox, caches and temporary files are private to the workload's user. */
const BEGIN = `umask 077
cd "$1" || exit 1
export HOME="$1" TORCHINDUCTOR_CACHE_DIR="$1/.cache/torchinductor"
shift
exec "$@"`;

/**
 * Runs workloads as child processes of this machine. They lead their own process groups and outlive the
 * server; a restarted server finds them through the files of their attempts:
 *
 *   <id>/attempts/<n>        process id and start time of attempt n, or 'closed'
 *   <id>/attempts/<n>.exit   its exit status
 *   <id>/attempts/<n>.json   its spec
 *   <id>/output.log          output of all attempts
 *   <id>/inputs/             its inputs, fetched before it begins
 *   <id>/work/               the workload's own files, which survive a restart
 *
 * In the sandbox a workload may only write to `work`, and read the inputs and its spec.
 */
export function createLocalDriver(options: Options): Driver {
  const listeners: ((workloadId: string) => void)[] = [];
  const users = workloadUsers(options.sandbox, options.workloadsDir);
  const attempts = new Attempts(options.workloadsDir, users);
  const processorTime = watchProcessorTime();
  const logOf = (workloadId: string) => path.join(attempts.folder(workloadId), 'output.log');

  async function start(launch: Launch): Promise<void> {
    const program = await programFor(launch, options);
    const { workloadId, attempt } = launch;
    const dir = attempts.folder(workloadId);
    const file = attempts.file(workloadId, attempt);
    await mkdir(path.join(dir, 'attempts'), { recursive: true, mode: 0o711 });
    await attempts.closeBefore(workloadId, attempt);

    const place = { dir, specFile: `${file}.json`, user: await users.own(dir) };
    const argv = await enclose(launch, program, place, options);
    const log = await open(logOf(workloadId), 'a', 0o600);
    try {
      await launchProcess({
        file,
        argv,
        // Not the workload's own folder: programs outside the sandbox must not load code or settings from
        // there.
        cwd: dir,
        env: { ...program.env, ...showGpus(launch) },
        log: log.fd,
        onEnd: () => void listeners.map((listener) => listener(workloadId)),
        close: () => attempts.close(workloadId, attempt),
      });
    } finally {
      await log.close();
    }
  }

  async function observe(workloadId: string, attempt: number): Promise<Observed> {
    const file = attempts.file(workloadId, attempt);
    const owner = await readOwner(file);
    if (owner === null) return { state: 'absent' };
    if (owner !== 'unknown' && (await isAlive(owner)))
      return { state: 'alive', starved: await processorTime.look(workloadId, owner.pid) };
    processorTime.forget(workloadId);
    return readEnd(file, logOf(workloadId));
  }

  return {
    admission: 'slots',
    endsWithServer: true,
    start,
    observe,
    tidy: (workloadId, attempt) =>
      truncateLog(logOf(workloadId)).then(() => attempts.endSurvivors(workloadId, attempt)),
    stop: (workloadId, attempt) => attempts.stop(workloadId, attempt),
    kill: (workloadId, attempt) => attempts.kill(workloadId, attempt),
    capacity: options.capacity,
    blocker: async (spec) => {
      const program = await options.program(spec);
      return 'blocker' in program ? program.blocker : null;
    },
    logs: (workloadId, limit) => readLastLines(logOf(workloadId), limit),
    output: async (workloadId, cursor) => {
      const { lines, offset } = await readLinesFrom(logOf(workloadId), Number(cursor ?? 0));
      return { lines, cursor: String(offset) };
    },
    list: () => attempts.workloads(),
    listAlive: () => attempts.listAlive(),
    remove: (workloadId) => attempts.remove(workloadId),
    onChange: (listener) => void listeners.push(listener),
  };
}

async function readEnd(file: string, logFile: string): Promise<Observed> {
  const [lastLine = null] = await readLastLines(logFile, 1);
  const exitCode = await readExitCode(file);
  return { state: 'ended', by: 'itself', exitCode, lastLine, folder: 'kept' };
}

/** Returns the program for a launch. Throws a plain sentence if this machine cannot run it. */
async function programFor({ nodes, spec }: Launch, options: Options): Promise<Program> {
  if (nodes > 1) throw new CannotStartError(`it needs ${nodes} nodes, and this machine is one`);
  const program = await options.program(specKind(spec));
  if ('blocker' in program) throw new Error(program.blocker);
  return program;
}

/** Returns the exit status of an attempt; null if its launcher did not record one. */
async function readExitCode(file: string): Promise<number | null> {
  const exit = await readFile(`${file}.exit`, 'utf8').catch(() => '');
  return exit.trim() === '' ? null : Number(exit);
}

/** Writes the spec for the workload, and returns the command that runs it in the sandbox. */
async function enclose(
  launch: Launch,
  program: Program,
  { dir, specFile, user }: { dir: string; specFile: string; user: number },
  { sandbox, host }: Pick<Options, 'sandbox' | 'host'>,
): Promise<string[]> {
  const places = { work: path.join(dir, 'work'), inputs: path.join(dir, 'inputs') };
  await mkdir(places.inputs, { recursive: true, mode: 0o755 });
  await writeFile(specFile, JSON.stringify(fullSpec(launch, { ...places, host })), { mode: 0o600 });
  if (sandbox.kind === 'user') await chown(specFile, user, user);
  const command = await sandbox.enclose({
    argv: ['/bin/sh', '-c', BEGIN, 'sh', places.work, ...program.argv, launch.spec.kind, specFile],
    cwd: places.work,
    reads: [...program.reads, places.inputs, specFile],
    writes: [places.work],
    user,
  });
  return [...priorityPrefix(launch), ...(program.pull?.(specFile) ?? []), ...command];
}

function fullSpec(launch: Launch, places: { work: string; inputs: string; host: string }) {
  return {
    ...launch.spec,
    protocol: RUNTIME_PROTOCOL,
    workload_id: launch.workloadId,
    server: launch.server,
    ...(launch.spec.kind === 'serve' && {
      api_key: launch.serverKey,
      host: places.host,
      threads: machineCpu().cores,
    }),
    work_dir: places.work,
    inputs_dir: places.inputs,
  };
}

/** Sets PCI bus order, which nvidia-smi and our GPU indexes use; by default CUDA orders GPUs by speed. */
function showGpus({ devices }: Launch): Record<string, string> {
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: devices.join(',') };
}

/** Only CPU runs have low priority. A GPU run needs little CPU time, but each delay idles the GPU. */
function priorityPrefix(launch: Launch): string[] {
  return launch.behaviour === 'run' && launch.devices.length === 0 ? atLowPriority : [];
}
