import { open, stat, truncate } from 'node:fs/promises';

const LONGEST_BYTES = 16 * 1024 * 1024;
const KEPT_BYTES = 1024 * 1024;
const READ_BYTES = 512 * 1024;
const STEP_BYTES = 64 * 1024;

/** Returns the last lines of a log file; none if there is no file. */
export async function readLastLines(file: string, limit: number): Promise<string[]> {
  return toLines(await readEnd(file, READ_BYTES)).slice(-limit);
}

function toLines(bytes: Buffer): string[] {
  // Progress bars return to the start of their line.
  const lines = bytes.toString('utf8').split(/\r\n|\n|\r/);
  return lines.filter((line) => line.trim() !== '');
}

/**
 * Returns complete lines from `offset` on (at most 64 KB) and the next offset. If the log is shorter than
 * `offset`, it was truncated: returns no lines and the offset of its end.
 */
export async function readLinesFrom(
  file: string,
  offset: number,
): Promise<{ lines: string[]; offset: number }> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return { lines: [], offset: 0 };
  try {
    const { size } = await handle.stat();
    if (size < offset) return { lines: [], offset: size };
    const buffer = Buffer.alloc(Math.min(STEP_BYTES, size - offset));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
    const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
    // A line longer than one read is returned in pieces.
    const taken = end === 0 && bytesRead === STEP_BYTES ? bytesRead : end;
    return { lines: toLines(buffer.subarray(0, taken)), offset: offset + taken };
  } finally {
    await handle.close();
  }
}

/**
 * Truncates a log larger than 16 MB to its last MB. The process that writes the log appends at the new end. A
 * line that it writes during the truncation may be lost.
 */
export async function truncateLog(file: string): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= LONGEST_BYTES) return;
  const kept = await readEnd(file, KEPT_BYTES);
  await truncate(file, 0);
  const handle = await open(file, 'a');
  try {
    await handle.write(kept.subarray(kept.indexOf('\n') + 1));
  } finally {
    await handle.close();
  }
}

async function readEnd(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return Buffer.alloc(0);
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(bytes, size));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
