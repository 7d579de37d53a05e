import { withUserComment } from './exif.ts';

const START_BYTES = 2;
const START_OF_SCAN = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const EXIF = Buffer.from('Exif\0\0', 'latin1');
/** Maximum segment size without its marker, length field included. */
const SEGMENT_BYTES_MAX = 0xffff;

/** Returns the JPEG with this comment in its EXIF. Throws Error if the EXIF is damaged or has no room. */
export function withJpegExif(bytes: Buffer, comment: string): Buffer {
  const { segments, end } = segmentsOf(bytes);
  const old = segments.find(isExif);
  const block = withUserComment(old ? old.subarray(4 + EXIF.length) : null, comment);
  const others = segments.filter((segment) => segment !== old);
  // JFIF's APP0 segment must stay first.
  const firstCount = others[0]?.[1] === APP0 ? 1 : 0;
  return Buffer.concat([
    bytes.subarray(0, START_BYTES),
    ...others.slice(0, firstCount),
    exifSegment(block),
    ...others.slice(firstCount),
    bytes.subarray(end),
  ]);
}

/** Returns the segments before the image data, and the end offset. */
function segmentsOf(bytes: Buffer): { segments: Buffer[]; end: number } {
  const segments: Buffer[] = [];
  let at = START_BYTES;
  while (bytes[at] === 0xff && bytes[at + 1] !== START_OF_SCAN) {
    // Markers may be preceded by fill bytes.
    if (bytes[at + 1] === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    segments.push(bytes.subarray(at, end));
    at = end;
  }
  return { segments, end: at };
}

function isExif(segment: Buffer): boolean {
  return segment[1] === APP1 && segment.subarray(4, 4 + EXIF.length).equals(EXIF);
}

function exifSegment(block: Buffer): Buffer {
  const length = 2 + EXIF.length + block.length;
  if (length > SEGMENT_BYTES_MAX) throw new Error(`a JPEG has no room for ${length} bytes of EXIF`);
  const head = Buffer.from([0xff, APP1, length >> 8, length & 0xff]);
  return Buffer.concat([head, EXIF, block]);
}
