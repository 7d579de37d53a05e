import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const WINDOW_BYTES = 256 * 1024;

/** A file with random access. Reading past its end throws `DamagedFile`. */
export type ByteSource = {
  size: number;
  read: (position: number, length: number) => Buffer;
};

/** Thrown by parsers of weight files. The message is shown after 'is damaged:' or 'is not accepted:'. */
export class DamagedFile extends Error {}

const NAME_CHARS_MAX = 80;

/**
 * Returns a name from a file in a form that is safe to show: without unprintable characters, and shortened.
 */
export function printable(name: string): string {
  const text = name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '\u{fffd}');
  return text.length > NAME_CHARS_MAX ? `${text.slice(0, NAME_CHARS_MAX)}…` : text;
}

/**
 * Runs `check` on a file. A window slides over the file, so that many small reads need few system calls and
 * little memory.
 */
export function withFile<T>(path: string, check: (source: ByteSource) => T): T {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    let window = Buffer.alloc(0);
    let windowStart = 0;
    const read = (position: number, length: number): Buffer => {
      if (position < 0 || length < 0 || position + length > size) throw new DamagedFile('it ends too early');
      if (position < windowStart || position + length > windowStart + window.length) {
        window = Buffer.alloc(Math.min(Math.max(length, WINDOW_BYTES), size - position));
        windowStart = position;
        let filled = 0;
        while (filled < window.length) {
          const count = readSync(fd, window, filled, window.length - filled, position + filled);
          if (count === 0) throw new DamagedFile('it ends too early');
          filled += count;
        }
      }
      return window.subarray(position - windowStart, position - windowStart + length);
    };
    return check({ size, read });
  } finally {
    closeSync(fd);
  }
}

/** Sequential reader of a source. */
export type Cursor = {
  position: () => number;
  skip: (length: number) => void;
  readBytes: (length: number) => Buffer;
  u32: () => number;
  /** Throws if the value is implausibly large. */
  u64: () => number;
};

export function cursorOver(source: ByteSource): Cursor {
  let at = 0;
  const readBytes = (length: number): Buffer => {
    const bytes = source.read(at, length);
    at += length;
    return bytes;
  };
  return {
    position: () => at,
    skip: (length) => {
      if (length < 0 || at + length > source.size) throw new DamagedFile('it ends too early');
      at += length;
    },
    readBytes,
    u32: () => readBytes(4).readUInt32LE(),
    u64: () => {
      const value = readBytes(8).readBigUInt64LE();
      if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DamagedFile('it names an impossible size');
      return Number(value);
    },
  };
}
