import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { type Measured, median } from './measured.ts';

const run = promisify(execFile);
const MB = 1_000_000;

/** Writes a file that cannot be compressed and has no two equal blocks. */
export async function writeRandom(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'w');
  const block = Buffer.alloc(bytes / 500);
  for (let written = 0; written < bytes; written += block.length) {
    crypto.getRandomValues(block.subarray(0, 65_536));
    block.writeUInt32LE(written, 0);
    await handle.write(block);
  }
  await handle.close();
}

/** Copies a file with system programs, and flushes it to the disk, as the server does for an upload. */
export async function writeAndHash(from: string, to: string): Promise<void> {
  await run('sh', ['-c', 'tee "$2" < "$1" | sha256sum && sync "$2"', 'sh', from, to]);
}

/** Returns the seconds that the work takes. */
export async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

type Seconds = { ours: number[]; theirs: number[] };

/** Returns the line for an operation on the largest permitted file, compared with writing and hashing it. */
export function againstCopying(name: string, { ours, theirs }: Seconds, cause?: string): Measured {
  const speed = (seconds: number[]) => FILE_SIZE_LIMIT_BYTES / MB / median(seconds);
  return {
    name,
    unit: 'MB/s',
    ours: speed(ours),
    reference: { what: 'tee | sha256sum', value: speed(theirs) },
    goal: { kind: 'ratio at least', value: 0.7 },
    ...(cause && { cause }),
  };
}
