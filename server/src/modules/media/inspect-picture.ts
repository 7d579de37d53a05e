import {
  JPEG_SCANS_MAX,
  PICTURE_PARTS_MAX,
  PICTURE_PIXELS_MAX,
  PICTURE_RATIO_MAX,
  pictureMessages,
  type pictureTypes,
} from '@bakehouse/contract/media';
import { BadMedia } from './bad-media.ts';

export type InspectedPicture = { mediaType: (typeof pictureTypes)[number]; width: number; height: number };

/** A picture is not accepted. The message is shown to its sender. */
export class BadPicture extends BadMedia {}

/**
 * Reads a picture's type and size from its headers, and checks that the file is complete. Nothing is decoded:
 * the model server decodes it in isolation, without relying on these checks. Throws BadPicture.
 */
export function inspectPicture(bytes: Buffer): InspectedPicture {
  const found = inspectPng(bytes) ?? inspectJpeg(bytes) ?? inspectWebp(bytes);
  if (!found) throw new BadPicture(pictureMessages.type);
  const { width, height } = found;
  if (width < 1 || height < 1) throw new BadPicture(pictureMessages.broken);
  if (width * height > PICTURE_PIXELS_MAX) throw new BadPicture(pictureMessages.tooManyPixels);
  if (Math.max(width, height) > PICTURE_RATIO_MAX * Math.min(width, height))
    throw new BadPicture(pictureMessages.tooNarrow);
  if (found.isAnimated) throw new BadPicture(pictureMessages.animated);
  if (!found.isWhole) throw new BadPicture(pictureMessages.broken);
  return { mediaType: found.mediaType, width, height };
}

type Found = InspectedPicture & { isWhole: boolean; isAnimated: boolean };

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
// Chunk names are compared as numbers, which is fast enough for millions of chunks.
const IMAGE_HEADER = Buffer.from('IHDR').readUInt32BE();
const ANIMATION_CONTROL = Buffer.from('acTL').readUInt32BE();
const IMAGE_END = Buffer.from('IEND').readUInt32BE();

/** Each chunk has a length, a four-letter name, data and a four-byte checksum. */
function inspectPng(bytes: Buffer): Found | null {
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return null;
  // IHDR must be the first chunk, because width and height are read from its position.
  if (uint32(bytes, 12) !== IMAGE_HEADER) throw new BadPicture(pictureMessages.broken);
  const size = { width: uint32(bytes, 16), height: uint32(bytes, 20) };
  let isAnimated = false;
  let parts = 0;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + uint32(bytes, at)) {
    parts = countPart(parts);
    const name = bytes.readUInt32BE(at + 4);
    if (name === ANIMATION_CONTROL) isAnimated = true;
    if (name === IMAGE_END) return { mediaType: 'image/png', ...size, isAnimated, isWhole: true };
  }
  return { mediaType: 'image/png', ...size, isAnimated, isWhole: false };
}

/**
 * Frame headers (SOF0 to SOF15) contain the size. These three markers are in the same range, but are tables.
 */
const NO_FRAMES = new Set([0xc4, 0xc8, 0xcc]);

function inspectJpeg(bytes: Buffer): Found | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8 || bytes[2] !== 0xff) return null;
  const isWhole = bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > 2;
  assertPartLimit(bytes);
  const rest = { mediaType: 'image/jpeg' as const, isWhole, isAnimated: false };
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) break;
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker))
      return { ...rest, height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return { ...rest, width: 0, height: 0 };
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/**
 * Counts the parts of a JPEG by walking from marker to marker. Segment contents are skipped, because an
 * embedded preview has scans of its own; a video may follow the picture. Within a scan, restart markers and
 * bytes below C0 are no markers. Before the first scan, decoders read every byte outside a segment, so each
 * one counts as a part.
 */
function assertPartLimit(bytes: Buffer): void {
  let scans = 0;
  let parts = 0;
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (scans === 0) parts = countPart(parts);
    if (bytes[at] !== 0xff) {
      at += 1;
      continue;
    }
    const marker = bytes[at + 1] ?? 0;
    if (marker === END_OF_IMAGE) return;
    if (marker === START_OF_SCAN) scans += 1;
    if (scans > JPEG_SCANS_MAX) throw new BadPicture(pictureMessages.tooManyScans);
    const hasLength = marker >= 0xc0 && marker !== 0xff && !(marker >= 0xd0 && marker <= 0xd8);
    if (scans > 0 && hasLength) parts = countPart(parts);
    // If two FF bytes follow each other, the second one may start a marker.
    at += hasLength ? 2 + bytes.readUInt16BE(at + 2) : marker === 0xff ? 1 : 2;
  }
}

/** Increments the count of parts. Throws BadPicture above the maximum. */
function countPart(parts: number): number {
  if (parts >= PICTURE_PARTS_MAX) throw new BadPicture(pictureMessages.tooManyParts);
  return parts + 1;
}

const WEBP_ANIMATION = 0x02;

function inspectWebp(bytes: Buffer): Found | null {
  const text = (from: number) => bytes.toString('latin1', from, from + 4);
  if (text(0) !== 'RIFF' || text(8) !== 'WEBP') return null;
  if (bytes.length < 30) throw new BadPicture(pictureMessages.broken);
  const rest = { mediaType: 'image/webp' as const, isWhole: bytes.readUInt32LE(4) + 8 <= bytes.length };
  switch (text(12)) {
    case 'VP8X':
      return {
        ...rest,
        width: bytes.readUIntLE(24, 3) + 1,
        height: bytes.readUIntLE(27, 3) + 1,
        isAnimated: (bytes.readUInt8(20) & WEBP_ANIMATION) !== 0,
      };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { ...rest, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1, isAnimated: false };
    }
    default:
      return {
        ...rest,
        width: bytes.readUInt16LE(26) & 0x3fff,
        height: bytes.readUInt16LE(28) & 0x3fff,
        isAnimated: false,
      };
  }
}

/** Reads a big-endian number; 0 beyond the end. */
function uint32(bytes: Buffer, at: number): number {
  return at + 4 <= bytes.length ? bytes.readUInt32BE(at) : 0;
}
