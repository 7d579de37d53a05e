import { VIDEO_SECONDS_MAX, VIDEO_SIDE_MAX, videoMessages, type videoType } from '@bakehouse/contract/media';
import { BadMedia } from '../bad-media.ts';
import { type Box, boxesIn, findBox, LONG_HEADER, readBox } from './mp4-boxes.ts';

/** What a video is. */
export type InspectedVideo = {
  mediaType: typeof videoType;
  width: number;
  height: number;
  durationS: number;
  /** Null where the file does not list them. */
  frames: number | null;
  hasAudio: boolean;
};

class BadVideo extends BadMedia {}

/** A file that is read in pieces: its length, and the bytes at a place, fewer at its end. */
type OpenVideo = { size: number; read: (at: number, length: number) => Promise<Buffer> };

/** Boxes beside each other in a file: a stream that was cut into pieces has two for each. */
const BOXES_MAX = 20_000;
/** The table of a film of ten minutes has some hundred thousand. */
const INDEX_BYTES_MAX = 16 * 1024 * 1024;
const TRACKS_MAX = 16;

/**
 * Size, length and sound of an MP4 as its boxes say them, and whether all of it is there. Nothing is decoded. Throws
 * BadMedia, and what reading throws.
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

/** What the index of a file says of the whole. Throws BadMedia. Pure. */
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

/** In seconds; of a film in pieces its own box says it. 0 where nothing does. */
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

/** As 16.16 at the end of a track's header. */
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

/** 0 where the box does not reach so far. */
function uint32At(index: Buffer, box: Box | undefined, at: number): number {
  return box && box.start + at + 4 <= box.end ? index.readUInt32BE(box.start + at) : 0;
}

function textAt(index: Buffer, box: Box | undefined, at: number): string {
  return box ? index.toString('latin1', box.start + at, Math.min(box.start + at + 4, box.end)) : '';
}
