import { inflateRawSync } from 'node:zlib';
import { type ByteSource, DamagedFile } from './byte-source.ts';

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;
const IN_64 = 0xffffffff;

export type ZipEntry = { name: string; method: number; packedBytes: number; bytes: number; offset: number };

export function isZip(source: ByteSource): boolean {
  return source.size >= 4 && source.read(0, 4).readUInt32LE() === LOCAL_ENTRY;
}

/** The entries of an archive by its central directory, which is what PyTorch reads. Throws DamagedFile. */
export function listZip(source: ByteSource): ZipEntry[] {
  const { offset, bytes, count } = findDirectory(source);
  const directory = source.read(offset, bytes);
  const entries: ZipEntry[] = [];
  for (let at = 0; entries.length < count; ) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== DIRECTORY_ENTRY) {
      throw new DamagedFile('its list of contents cannot be read');
    }
    const nameBytes = directory.readUInt16LE(at + 28);
    const extraBytes = directory.readUInt16LE(at + 30);
    const commentBytes = directory.readUInt16LE(at + 32);
    const extraStart = at + 46 + nameBytes;
    if (extraStart + extraBytes + commentBytes > directory.length)
      throw new DamagedFile('its list of contents cannot be read');
    const wide = readWideFields(directory.subarray(extraStart, extraStart + extraBytes));
    // The 64-bit fields stand in this order, each only where its 32-bit one is full.
    const field = (position: number): number => {
      const value = directory.readUInt32LE(at + position);
      return value === IN_64 ? wide() : value;
    };
    const unpacked = field(24);
    const packedBytes = field(20);
    entries.push({
      name: directory.toString('utf8', at + 46, extraStart),
      method: directory.readUInt16LE(at + 10),
      bytes: unpacked,
      packedBytes,
      offset: field(42),
    });
    at = extraStart + extraBytes + commentBytes;
  }
  return entries;
}

/** The bytes of one entry. Throws DamagedFile when it is larger than `bytesMax` or cannot be unpacked. */
export function readZipEntry(source: ByteSource, entry: ZipEntry, bytesMax: number): Buffer {
  if (entry.bytes > bytesMax || entry.packedBytes > bytesMax)
    throw new DamagedFile(`its part ${entry.name} is too large to check`);
  const local = source.read(entry.offset, 30);
  if (local.readUInt32LE(0) !== LOCAL_ENTRY)
    throw new DamagedFile(`its part ${entry.name} is not where it should be`);
  const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = source.read(start, entry.packedBytes);
  if (entry.method === STORED) return packed;
  if (entry.method !== DEFLATED) throw new DamagedFile(`its part ${entry.name} is packed in an unknown way`);
  try {
    return inflateRawSync(packed, { maxOutputLength: bytesMax });
  } catch (error) {
    throw new DamagedFile(`its part ${entry.name} cannot be unpacked`, { cause: error });
  }
}

function findDirectory(source: ByteSource): { offset: number; bytes: number; count: number } {
  const tailBytes = Math.min(source.size, 65_557);
  const tailStart = source.size - tailBytes;
  const tail = Buffer.from(source.read(tailStart, tailBytes));
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END_OF_DIRECTORY) continue;
    if (at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR_64) {
      const record = source.read(Number(tail.readBigUInt64LE(at - 20 + 8)), 56);
      if (record.readUInt32LE(0) !== END_OF_DIRECTORY_64) break;
      return {
        count: Number(record.readBigUInt64LE(32)),
        bytes: Number(record.readBigUInt64LE(40)),
        offset: Number(record.readBigUInt64LE(48)),
      };
    }
    return {
      count: tail.readUInt16LE(at + 10),
      bytes: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
    };
  }
  throw new DamagedFile('its list of contents is missing');
}

/** Gives one 64-bit value after the other from the ZIP64 part of the extra field. */
function readWideFields(extra: Buffer): () => number {
  let at = 0;
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== 1) at += 4 + extra.readUInt16LE(at + 2);
  at += 4;
  return () => {
    if (at + 8 > extra.length) throw new DamagedFile('its list of contents cannot be read');
    const value = Number(extra.readBigUInt64LE(at));
    at += 8;
    return value;
  };
}
