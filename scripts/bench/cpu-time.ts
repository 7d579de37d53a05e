import { readdir, readFile } from 'node:fs/promises';

/** A clock tick of /proc in ms. */
const TICK_MS = 10;

/** The parts of a server, by a word in the command line of their processes. The first match counts. */
const parts = [
  ['database', /postgres/],
  ['model server', /bakehouse_runtime/],
  ['gateway', /./],
] as const;

type Part = (typeof parts)[number][0];
type Process = { pid: number; parent: number; command: string; cpuMs: number };

/**
 * Returns the CPU time in ms that each part of a server has used so far. A server's processes are the process
 * itself, processes with its data folder in their command line, and their descendants. Returns null without
 * /proc.
 */
export async function readCpuTimes(server: {
  pid: number;
  dataDir: string;
}): Promise<Record<Part, number> | null> {
  const all = await listProcesses().catch(() => null);
  if (!all) return null;
  const own = new Set(
    all
      .filter(({ pid, command }) => pid === server.pid || command.includes(server.dataDir))
      .map(({ pid }) => pid),
  );
  for (let before = 0; before < own.size; ) {
    before = own.size;
    for (const { pid, parent } of all) if (own.has(parent)) own.add(pid);
  }
  const times = { database: 0, 'model server': 0, gateway: 0 };
  for (const { pid, command, cpuMs } of all) {
    if (!own.has(pid)) continue;
    const [part = 'gateway'] = parts.find(([, word]) => word.test(command)) ?? [];
    times[part] += cpuMs;
  }
  return times;
}

async function listProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readProcess(pid).catch(() => null)));
  return found.filter((one) => one !== null);
}

async function readProcess(pid: string): Promise<Process> {
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  // The second field, the name in parentheses, may contain spaces.
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
  return { pid: Number(pid), parent: parent ?? 0, command, cpuMs: ((user ?? 0) + (system ?? 0)) * TICK_MS };
}
