import { refused } from '../../../platform/errors.ts';

/** Pieces of one xorb, in their order: those from `start`, and not `end`. */
type Term = { xorb: string; bytes: number; start: number; end: number };

/** A file is its terms, one after the other. */
export type ShardFile = { sha256: string | null; sizeBytes: number; terms: Term[] };

const ENTRY_BYTES = 48;
const HASH_BYTES = 32;
/** Flags of a file: each term has an entry by which it can be proven, and the file one with its SHA-256. */
const WITH_VERIFICATION = 0x80000000;
const WITH_METADATA = 0x40000000;
const VERSION = 2n;

/** The files of a shard (https://huggingface.co/docs/xet/shard). Throws AppError('invalid_request') for what is none. Pure. */
export function parseShard(shard: Buffer): ShardFile[] {
  if (shard.length < ENTRY_BYTES || shard.readBigUInt64LE(HASH_BYTES) !== VERSION)
    throw refused('shard', 'This is no shard of version 2');
  const files: ShardFile[] = [];
  let at = ENTRY_BYTES;
  const take = (count: number): number => {
    const from = at;
    at += count * ENTRY_BYTES;
    if (at > shard.length) throw refused('shard', 'The shard ends too early');
    return from;
  };
  for (;;) {
    const header = take(1);
    if (shard.subarray(header, header + HASH_BYTES).every((byte) => byte === 0xff)) return files;
    const flags = shard.readUInt32LE(header + 32);
    const count = shard.readUInt32LE(header + 36);
    const from = take(count);
    const terms = Array.from({ length: count }, (_, index) => readTerm(shard, from + index * ENTRY_BYTES));
    if ((flags & WITH_VERIFICATION) !== 0) take(count);
    const sha256 = (flags & WITH_METADATA) === 0 ? null : hashAt(shard, take(1));
    files.push({ sha256, sizeBytes: terms.reduce((sum, { bytes }) => sum + bytes, 0), terms });
  }
}

function readTerm(shard: Buffer, at: number): Term {
  const [bytes, start, end] = [
    shard.readUInt32LE(at + 36),
    shard.readUInt32LE(at + 40),
    shard.readUInt32LE(at + 44),
  ];
  if (end <= start) throw refused('shard', 'A file of the shard has a term without pieces');
  return { xorb: hashAt(shard, at), bytes, start, end };
}

/** A hash as text: four numbers, the lowest byte of which comes first in the shard. */
function hashAt(shard: Buffer, at: number): string {
  return [0, 8, 16, 24]
    .map((offset) =>
      shard
        .readBigUInt64LE(at + offset)
        .toString(16)
        .padStart(16, '0'),
    )
    .join('');
}
