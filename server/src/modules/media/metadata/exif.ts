const EXIF_DIRECTORY = 0x8769;
const USER_COMMENT = 0x9286;
const TYPE_LONG = 4;
const TYPE_UNDEFINED = 7;
const ENTRY_BYTES = 12;
/** An EXIF comment starts with its encoding. */
const ASCII = 'ASCII\0\0\0';
/** An empty block: big-endian, with one empty directory right after the header. */
const EMPTY = Buffer.from('4d4d002a00000008000000000000', 'hex');

type Directory = { entries: Buffer[]; next: number };

/**
 * Returns an EXIF block with this ASCII comment. The existing bytes are not moved, because EXIF refers to
 * them by offset; the comment and new directories are appended. Throws RangeError for a damaged block.
 */
export function withUserComment(exif: Buffer | null, comment: string): Buffer {
  const before = even(exif ?? EMPTY);
  const byteOrder = byteOrderOf(before);
  const root = byteOrder.read(before, byteOrder.uint32(before, 4));
  const pointer = root.entries.find((entry) => byteOrder.uint16(entry, 0) === EXIF_DIRECTORY);
  const inner = pointer ? byteOrder.read(before, byteOrder.uint32(pointer, 8)) : { entries: [], next: 0 };

  const text = Buffer.from(ASCII + comment, 'latin1');
  const commentAt = before.length;
  const innerAt = commentAt + even(text).length;
  const newInner = byteOrder.write(
    byteOrder.withEntry(inner, [USER_COMMENT, TYPE_UNDEFINED, text.length, commentAt]),
  );
  const newRoot = byteOrder.write(byteOrder.withEntry(root, [EXIF_DIRECTORY, TYPE_LONG, 1, innerAt]));
  const header = Buffer.from(before.subarray(0, 8));
  byteOrder.uint32At(header, 4, innerAt + newInner.length);
  return Buffer.concat([header, before.subarray(8), even(text), newInner, newRoot]);
}

/** Reads and writes numbers and directories in the block's byte order. */
function byteOrderOf(block: Buffer) {
  const isLittle = block.toString('latin1', 0, 2) === 'II';
  const uint16 = (bytes: Buffer, at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const uint32 = (bytes: Buffer, at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const uint16At = (bytes: Buffer, at: number, value: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const uint32At = (bytes: Buffer, at: number, value: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);

  function read(bytes: Buffer, at: number): Directory {
    const count = uint16(bytes, at);
    const next = uint32(bytes, at + 2 + count * ENTRY_BYTES);
    const entries = Array.from({ length: count }, (_, index) => {
      const start = at + 2 + index * ENTRY_BYTES;
      return bytes.subarray(start, start + ENTRY_BYTES);
    });
    return { entries, next };
  }

  function write({ entries, next }: Directory): Buffer {
    const [count, end] = [Buffer.alloc(2), Buffer.alloc(4)];
    uint16At(count, 0, entries.length);
    uint32At(end, 0, next);
    return Buffer.concat([count, ...entries, end]);
  }

  /**
   * Adds an entry (tag, type, count, value) or replaces the one with the same tag. Entries are sorted by tag.
   */
  function withEntry(
    { entries, next }: Directory,
    [tag, type, count, value]: [number, number, number, number],
  ) {
    const entry = Buffer.alloc(ENTRY_BYTES);
    uint16At(entry, 0, tag);
    uint16At(entry, 2, type);
    uint32At(entry, 4, count);
    uint32At(entry, 8, value);
    const others = entries.filter((one) => uint16(one, 0) !== tag);
    return { entries: [...others, entry].toSorted((a, b) => uint16(a, 0) - uint16(b, 0)), next };
  }

  return { uint16, uint32, uint32At, read, write, withEntry };
}

/** Offsets in a block must be even. */
function even(bytes: Buffer): Buffer {
  return bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)]);
}
