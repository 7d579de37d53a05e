import { open } from 'node:fs/promises';
import { VIDEO_SECONDS_MAX, VIDEO_SIDE_MAX, videoMessages, type videoType } from '@bakehouse/contract/media';
import type { Services } from '../../../platform/context.ts';
import { withBlobFile } from '../../../platform/storage/read-blob.ts';
import { BadMedia } from '../bad-media.ts';

const HEADER = 8;

/** Header size of a box with a 64-bit length. */
const LONG_HEADER = 16;

/**
 * Maximum boxes inside a box. An index could have two million empty boxes, which would block the event loop.
 */
const BOXES_INSIDE_MAX = 1000;

class BadVideo extends BadMedia {}

/** Maximum boxes at the top level. A fragmented stream has two per fragment. */
const BOXES_MAX = 20_000;

/** Maximum size of the index. The index of a ten-minute video has some hundred thousand bytes. */
const INDEX_BYTES_MAX = 16 * 1024 * 1024;

const TRACKS_MAX = 16;

type InspectedVideo = {
  mediaType: typeof videoType;
  width: number;
  height: number;
  durationS: number;
  /** Null if the file does not list them. */
  frames: number | null;
  hasAudio: boolean;
};

/** A video file that is read in pieces. At its end, `read` returns fewer bytes than requested. */
type OpenVideo = { size: number; read: (at: number, length: number) => Promise<Buffer> };

/**
 * Reads size, duration and audio of an MP4 from its boxes and checks that it is complete. Decodes nothing.
 * Throws BadMedia and read errors.
 */
export async function inspectVideo(file: OpenVideo): Promise<InspectedVideo> {
  const boxes = await readOuterBoxes(file);
  const index = boxes.find(({ name }) => name === 'moov');
  const hasFrames = boxes.some(({ name }) => name === 'mdat');
  if (!index || !hasFrames || index.end - index.start > INDEX_BYTES_MAX)
    throw new BadVideo(videoMessages.broken);
  return readIndex(await file.read(index.start, index.end - index.start));
}

async function readOuterBoxes({ size, read }: OpenVideo): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; at < size; ) {
    const box = readBox(await read(at, LONG_HEADER), at, size);
    if (at === 0 && box?.name !== 'ftyp') throw new BadVideo(videoMessages.type);
    if (!box || boxes.length === BOXES_MAX) throw new BadVideo(videoMessages.broken);
    boxes.push(box);
    at = box.end;
  }
  if (boxes.length === 0) throw new BadVideo(videoMessages.type);
  return boxes;
}

/** Reads the video's properties from its index. Throws BadMedia. */
function readIndex(index: Buffer): InspectedVideo {
  const all = { start: 0, end: index.length };
  const tracks = boxesIn(index, all).filter(({ name }) => name === 'trak');
  if (tracks.length > TRACKS_MAX) throw new BadVideo(videoMessages.broken);
  const kindOf = (track: Box) => textAt(index, findBox(index, track, 'mdia', 'hdlr'), 8);
  const picture = tracks.find((track) => kindOf(track) === 'vide');
  const durationS = readDuration(index);
  const size = picture && readSize(index, picture);
  if (!picture || !size || !(durationS > 0)) throw new BadVideo(videoMessages.broken);
  if (durationS > VIDEO_SECONDS_MAX) throw new BadVideo(videoMessages.tooLong);
  if (Math.max(size.width, size.height) > VIDEO_SIDE_MAX) throw new BadVideo(videoMessages.tooManyPixels);
  const frames = uint32At(index, findBox(index, picture, 'mdia', 'minf', 'stbl', 'stsz'), 8);
  return {
    ...{ mediaType: 'video/mp4', ...size, durationS },
    frames: frames === 0 ? null : frames,
    hasAudio: tracks.some((track) => kindOf(track) === 'soun'),
  };
}

/** Returns the duration in seconds; a fragmented video has it in a separate box. 0 if missing. */
function readDuration(index: Buffer): number {
  const all = { start: 0, end: index.length };
  const header = findBox(index, all, 'mvhd');
  const isLong = header !== undefined && index[header.start] === 1;
  const scale = uint32At(index, header, isLong ? 20 : 12);
  const duration = lengthAt(index, header, { isLong, at: isLong ? 24 : 16 });
  const pieces = findBox(index, all, 'mvex', 'mehd');
  const inPieces = lengthAt(index, pieces, {
    isLong: pieces !== undefined && index[pieces.start] === 1,
    at: 4,
  });
  return scale === 0 ? 0 : (duration || inPieces) / scale;
}

/** Stored as 16.16 fixed point at the end of the track header. */
function readSize(index: Buffer, track: Box): { width: number; height: number } | undefined {
  const header = findBox(index, track, 'tkhd');
  if (!header || header.end - header.start < 84) return undefined;
  const width = Math.round(index.readUInt32BE(header.end - 8) / 65_536);
  const height = Math.round(index.readUInt32BE(header.end - 4) / 65_536);
  return width > 0 && height > 0 ? { width, height } : undefined;
}

function lengthAt(
  index: Buffer,
  box: Box | undefined,
  { isLong, at }: { isLong: boolean; at: number },
): number {
  if (!isLong) return uint32At(index, box, at);
  return box && box.start + at + 8 <= box.end ? Number(index.readBigUInt64BE(box.start + at)) : 0;
}

/** Returns 0 if the box is too short. */
function uint32At(index: Buffer, box: Box | undefined, at: number): number {
  return box && box.start + at + 4 <= box.end ? index.readUInt32BE(box.start + at) : 0;
}

function textAt(index: Buffer, box: Box | undefined, at: number): string {
  return box ? index.toString('latin1', box.start + at, Math.min(box.start + at + 4, box.end)) : '';
}

/**
 * Inspects a stored file as a video. Throws BadVideo if the video is not accepted, and the errors of
 * `withBlobFile`.
 */
export function inspectStoredVideo(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string },
): Promise<InspectedVideo> {
  return withBlobFile(services, file, async (localPath) => {
    await using handle = await open(localPath);
    const { size } = await handle.stat();
    const read = async (at: number, length: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    };
    return await inspectVideo({ size, read });
  });
}

/** A box of an MP4 file: its name and the range of its content. */
type Box = { name: string; start: number; end: number };

/** Parses the box header at `at`. The file or the outer box ends at `end`. Null if the header is invalid. */
function readBox(head: Buffer, at: number, end: number): Box | null {
  if (head.length < HEADER) return null;
  const name = head.toString('latin1', 4, 8);
  const short = head.readUInt32BE(0);
  // Length 0: the box extends to the end.
  if (short === 0) return { name, start: at + HEADER, end };
  const isLong = short === 1;
  if (isLong && head.length < LONG_HEADER) return null;
  const size = isLong ? Number(head.readBigUInt64BE(8)) : short;
  const headerSize = isLong ? LONG_HEADER : HEADER;
  if (size < headerSize || at + size > end) return null;
  return { name, start: at + headerSize, end: at + size };
}

/**
 * Returns the boxes inside a fully loaded box, up to the first invalid one. Throws BadMedia if there are too
 * many.
 */
function boxesIn(bytes: Buffer, { start, end }: Pick<Box, 'start' | 'end'>): Box[] {
  const found: Box[] = [];
  for (let at = start; at < end; ) {
    const box = readBox(bytes.subarray(at, Math.min(at + LONG_HEADER, end)), at, end);
    if (!box) break;
    if (found.length === BOXES_INSIDE_MAX) throw new BadMedia(videoMessages.broken);
    found.push(box);
    at = box.end;
  }
  return found;
}

/** Returns the first box at this path of names, if any. Throws whatever `boxesIn` throws. */
function findBox(bytes: Buffer, outer: Pick<Box, 'start' | 'end'>, ...path: string[]): Box | undefined {
  const [name, ...rest] = path;
  const box = boxesIn(bytes, outer).find((one) => one.name === name);
  return box && rest.length > 0 ? findBox(bytes, box, ...rest) : box;
}
