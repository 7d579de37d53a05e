import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

type Process = { parent: number; seconds: number; command: string };

/** Names of a server's processes in the table, chosen by their command lines. */
const names: [RegExp, string][] = [
  [/postgres/, 'PostgreSQL'],
  [/bakehouse_runtime serve/, 'model server'],
  [/bakehouse_runtime train/, 'training'],
  [/bakehouse_runtime/, 'reading of data'],
  [/main\.ts/, 'server'],
];

/** Returns a function that describes the CPU time of a server and its children since this call. */
export async function watchProcessor(server: number): Promise<() => Promise<string>> {
  const before = await readProcesses();
  const beganMs = performance.now();
  return async () => {
    const after = await readProcesses();
    const passedS = (performance.now() - beganMs) / 1000;
    const sums = new Map<string, number>();
    for (const [pid, { seconds, command }] of after) {
      if (!isBelow(after, pid, server)) continue;
      const name = names.find(([pattern]) => pattern.test(command))?.[1] ?? 'other programs';
      sums.set(name, (sums.get(name) ?? 0) + seconds - (before.get(pid)?.seconds ?? 0));
    }
    return [...sums]
      .toSorted(([, a], [, b]) => b - a)
      .map(([name, seconds]): [string, number] => [name, seconds / passedS])
      .filter(([, cores]) => cores >= 0.05)
      .map(([name, cores]) => `${name} ${cores.toFixed(1)} cores`)
      .join(', ');
  };
}

function isBelow(all: Map<number, Process>, pid: number, ancestor: number): boolean {
  for (let at: number | undefined = pid; at; at = all.get(at)?.parent) if (at === ancestor) return true;
  return false;
}

async function readProcesses(): Promise<Map<number, Process>> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,cputimes=,args='], { maxBuffer: 16_000_000 });
  const lines = stdout.matchAll(/^ *(\d+) +(\d+) +(\d+) (.*)$/gm);
  return new Map(
    lines.map(([, pid, parent, seconds, command = '']): [number, Process] => [
      Number(pid),
      { parent: Number(parent), seconds: Number(seconds), command },
    ]),
  );
}
