import { invalidParam } from '../../../platform/errors.ts';

/** A range of chunks in one xorb, from `start` up to but not including `end`. */
export type Term = { xorb: string; bytes: number; start: number; end: number };

/** A file is the concatenation of its terms. */
export type ShardFile = { sha256: string | null; sizeBytes: number };

/** The terms of a file come before the file itself, because its hash and size are read after them. */
export type ShardPart = { term: Term } | { file: ShardFile };

const ENTRY_BYTES = 48;
const HASH_BYTES = 32;
/**
 * Flags of a file. With verification, each term has one more entry. With metadata, the file has an entry with
 * its SHA-256.
 */
const WITH_VERIFICATION = 0x80000000;
const WITH_METADATA = 0x40000000;
const VERSION = 2n;
/** The same as the maximum number of changes in a commit. */
const FILES_MAX = 50_000;
/** Clients split a file into chunks of at least 8 KiB, except the last one. A term has at least one chunk. */
const TERM_BYTES_MIN = 8 * 1024;
const SHORT_TERMS_MAX = 16;

/**
 * Reads the files of a shard (https://huggingface.co/docs/xet/shard) from a stream, up to the end of its file
 * list. Throws AppError('invalid_request') if the shard is broken, or has more files or terms than clients
 * create.
 */
export async function* readShard(bytes: AsyncIterable<Buffer>): AsyncGenerator<ShardPart, void> {
  const entries = readEntries(bytes);
  const next = async (): Promise<Buffer> => {
    const { value, done } = await entries.next();
    if (done) throw invalidParam('shard', 'The shard ends too early');
    return value;
  };
  if ((await next()).readBigUInt64LE(HASH_BYTES) !== VERSION)
    throw invalidParam('shard', 'This is no shard of version 2');
  for (let files = 0; ; files += 1) {
    const header = await next();
    if (header.subarray(0, HASH_BYTES).every((byte) => byte === 0xff)) return;
    if (files === FILES_MAX) throw invalidParam('shard', `A shard has at most ${FILES_MAX} files`);
    const flags = header.readUInt32LE(32);
    const count = header.readUInt32LE(36);
    let sizeBytes = 0;
    for (let index = 0; index < count; index += 1) {
      const term = readTerm(await next());
      sizeBytes += term.bytes;
      yield { term };
    }
    if (count > SHORT_TERMS_MAX + sizeBytes / TERM_BYTES_MIN)
      throw invalidParam('shard', 'A file of the shard has more terms than a file of its size can have');
    if ((flags & WITH_VERIFICATION) !== 0) for (let index = 0; index < count; index += 1) await next();
    const sha256 = (flags & WITH_METADATA) === 0 ? null : hashOf(await next());
    yield { file: { sha256, sizeBytes } };
  }
}

/** Yields the entries of a shard. An entry is only valid until the next one is requested. */
async function* readEntries(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (; at + ENTRY_BYTES <= all.length; at += ENTRY_BYTES) yield all.subarray(at, at + ENTRY_BYTES);
    rest = all.subarray(at);
  }
  // The body may end right after the list, within the list's last entry.
  if (rest.length >= HASH_BYTES) yield Buffer.concat([rest, Buffer.alloc(ENTRY_BYTES - rest.length)]);
}

function readTerm(entry: Buffer): Term {
  const [bytes, start, end] = [entry.readUInt32LE(36), entry.readUInt32LE(40), entry.readUInt32LE(44)];
  if (end <= start) throw invalidParam('shard', 'A file of the shard has a term without pieces');
  return { xorb: hashOf(entry), bytes, start, end };
}

/** Returns a hash as text. In the shard it consists of four little-endian numbers. */
function hashOf(entry: Buffer): string {
  return [0, 8, 16, 24]
    .map((offset) => entry.readBigUInt64LE(offset).toString(16).padStart(16, '0'))
    .join('');
}
