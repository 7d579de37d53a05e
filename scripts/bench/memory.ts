import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MB = 1_000_000;

/** Returns the peak memory of a process in MB. Without /proc, returns its current memory. */
export async function peakMemoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(status ?? '')?.[1];
  if (peak) return (Number(peak) * 1024) / MB;
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return (Number(stdout) * 1024) / MB;
}

/** Returns the processes whose command line contains all of these words. */
export async function findProcesses(...words: string[]): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,args='], { maxBuffer: 16 * MB });
  return stdout
    .split('\n')
    .filter((line) => words.every((word) => line.includes(word)))
    .map((line) => Number.parseInt(line, 10));
}
