import { type ByteSource, type Cursor, cursorOver, DamagedFile, printable } from './byte-source.ts';

/** Bytes of value types 0 to 12; strings and arrays are variable. */
const VALUE_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8];
const UINT32 = 4;
const STRING = 8;
const ARRAY = 9;

/**
 * Values and bytes per block of each tensor type of ggml. ggml has removed the types of the missing numbers.
 */
const BLOCKS: Record<number, [values: number, bytes: number]> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
};

/**
 * Checks a GGUF file (version 2 or 3): the metadata is readable and every tensor is inside the file
 * (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Throws DamagedFile with the reason.
 */
export function checkGguf(source: ByteSource): void {
  const cursor = cursorOver(source);
  const { tensorCount, metadataCount } = readHead(cursor, source.size);

  let alignment = 32;
  walkMetadata(cursor, metadataCount, (key, type) => {
    if (key !== 'general.alignment' || type !== 4) return false;
    alignment = cursor.u32();
    return true;
  });
  if (alignment === 0 || alignment % 8 !== 0) throw new DamagedFile(`its alignment is ${alignment}`);

  let last: { name: string; end: number } | null = null;
  for (let i = 0; i < tensorCount; i += 1) {
    const { name, offset, bytes } = readTensor(cursor);
    if (offset % alignment !== 0) throw new DamagedFile(`the tensor ${name} is not aligned`);
    if (offset + bytes > (last?.end ?? 0)) last = { name, end: offset + bytes };
  }
  const dataStart = Math.ceil(cursor.position() / alignment) * alignment;
  if (last && dataStart + last.end > source.size)
    throw new DamagedFile(`the tensor ${last.name} reaches beyond its end`);
}

/** Returns the default and named chat templates of a GGUF. Throws DamagedFile with the reason. */
export function readGgufTemplates(source: ByteSource): string[] {
  const cursor = cursorOver(source);
  const found: string[] = [];
  walkMetadata(cursor, readHead(cursor, source.size).metadataCount, (key, type) => {
    if (!key.startsWith('tokenizer.chat_template') || type !== STRING) return false;
    found.push(cursor.readBytes(cursor.u64()).toString('utf8'));
    return true;
  });
  return found;
}

/** Token type of control tokens, which start or end a turn. */
const CONTROL = 3;

/** Returns chat templates and control tokens from the start of a GGUF; empty if the head is too short. */
export function readTemplatesInHead(head: Buffer): { templates: string[]; controls: string[] } {
  const cursor = cursorOver(sourceOf(head));
  const templates: string[] = [];
  let places: number[] = [];
  let types: number[] = [];
  try {
    walkMetadata(cursor, readHead(cursor, head.length).metadataCount, (key, type) => {
      if (key.startsWith('tokenizer.chat_template') && type === STRING) {
        templates.push(cursor.readBytes(cursor.u64()).toString('utf8'));
        return true;
      }
      const isTokens = key === 'tokenizer.ggml.tokens';
      if (type !== ARRAY || (!isTokens && key !== 'tokenizer.ggml.token_type')) return false;
      cursor.u32();
      const count = cursor.u64();
      if (isTokens) places = Array.from({ length: count }, () => placeOfString(cursor));
      else types = Array.from({ length: count }, () => cursor.u32());
      return true;
    });
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    return { templates: [], controls: [] };
  }
  const textAt = (place: number) =>
    head.toString('utf8', place + 8, place + 8 + Number(head.readBigUInt64LE(place)));
  return { templates, controls: places.filter((_, index) => types[index] === CONTROL).map(textAt) };
}

function placeOfString(cursor: Cursor): number {
  const place = cursor.position();
  cursor.skip(cursor.u64());
  return place;
}

function sourceOf(head: Buffer): ByteSource {
  return {
    size: head.length,
    read: (position, length) => {
      if (position < 0 || length < 0 || position + length > head.length)
        throw new DamagedFile('it ends too early');
      return head.subarray(position, position + length);
    },
  };
}

/** Architectures of llama.cpp that have only an encoder. */
const ENCODERS = /(bert|eurobert|gemma-embedding)/;

/** Properties of a model that are stored before the vocabulary in a GGUF. */
export type GgufHead = {
  /** A model produces embeddings if it is an encoder or has a pooling type. */
  task: 'text' | 'embedding';
  /** 32-bit counts in its metadata, e.g. `llama.context_length`. */
  numbers: ReadonlyMap<string, number>;
};

/**
 * Parses the beginning of a GGUF file up to the point where it is cut off. For other files, `numbers` is
 * empty.
 */
export function parseGgufHead(head: Buffer): GgufHead {
  const cursor = cursorOver(sourceOf(head));
  const numbers = new Map<string, number>();
  let isEncoder = false;
  try {
    walkMetadata(cursor, readHead(cursor, head.length).metadataCount, (key, type) => {
      if (key === 'general.architecture' && type === STRING) {
        isEncoder = ENCODERS.test(readString(cursor));
        return true;
      }
      if (type !== UINT32) return false;
      numbers.set(key, cursor.u32());
      return true;
    });
  } catch (error) {
    // Expected: the head ends somewhere in the vocabulary.
    if (!(error instanceof DamagedFile)) throw error;
  }
  const pools = [...numbers].some(
    ([key, pooling]) => key.endsWith('.pooling_type') && pooling >= 1 && pooling <= 3,
  );
  return { task: isEncoder || pools ? 'embedding' : 'text', numbers };
}

function readHead(cursor: Cursor, size: number): { tensorCount: number; metadataCount: number } {
  if (size < 24 || cursor.readBytes(4).toString('latin1') !== 'GGUF')
    throw new DamagedFile('it does not begin as a GGUF file');
  const version = cursor.u32();
  if (version !== 2 && version !== 3)
    throw new DamagedFile(`it has the GGUF version ${version}; 2 and 3 are known`);
  return { tensorCount: cursor.u64(), metadataCount: cursor.u64() };
}

/**
 * Calls `take` for each metadata entry. `take` must read the value and return true; if it returns false, the
 * value is skipped.
 */
function walkMetadata(cursor: Cursor, count: number, take: (key: string, type: number) => boolean): void {
  for (let i = 0; i < count; i += 1) {
    const key = readString(cursor);
    const type = cursor.u32();
    if (!take(key, type)) skipValue(cursor, type);
  }
}

function readTensor(cursor: Cursor): { name: string; offset: number; bytes: number } {
  const name = printable(readString(cursor));
  const dimensions = cursor.u32();
  if (dimensions > 4) throw new DamagedFile(`the tensor ${name} has ${dimensions} dimensions`);
  let values = 1;
  for (let i = 0; i < dimensions; i += 1) values *= cursor.u64();
  const type = cursor.u32();
  const block = BLOCKS[type];
  if (!block) throw new DamagedFile(`the tensor ${name} has the unknown type ${type}`);
  const [valuesPerBlock, bytesPerBlock] = block;
  if (values % valuesPerBlock !== 0)
    throw new DamagedFile(`the values of the tensor ${name} do not fill whole blocks`);
  return { name, offset: cursor.u64(), bytes: (values / valuesPerBlock) * bytesPerBlock };
}

function skipValue(cursor: Cursor, type: number): void {
  if (type === STRING) return cursor.skip(cursor.u64());
  if (type !== ARRAY) return cursor.skip(valueBytes(type));
  const itemType = cursor.u32();
  const count = cursor.u64();
  if (itemType === ARRAY) throw new DamagedFile('it has arrays inside arrays');
  if (itemType !== STRING) return cursor.skip(count * valueBytes(itemType));
  for (let i = 0; i < count; i += 1) cursor.skip(cursor.u64());
}

function valueBytes(type: number): number {
  const bytes = VALUE_BYTES[type];
  if (bytes === undefined) throw new DamagedFile(`its metadata has the unknown type ${type}`);
  return bytes;
}

function readString(cursor: Cursor): string {
  const length = cursor.u64();
  if (length > 65_535) throw new DamagedFile('it has a name of impossible length');
  return cursor.readBytes(length).toString('utf8');
}
