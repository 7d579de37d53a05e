/** Returns an MP4 box with a name and content. */
function box(name: string, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** Returns 32-bit big-endian numbers. */
function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
}

function track(kind: 'vide' | 'soun', { width, height, frames }: Shape): Buffer {
  const header = numbers(7, 0, 0, 1, 0, 0, ...Array.from({ length: 13 }, () => 0), width << 16, height << 16);
  const samples = box('stbl', box('stsz', numbers(0, 0, frames)));
  const handler = box('hdlr', numbers(0, 0), Buffer.from(kind), numbers(0, 0, 0));
  return box('trak', box('tkhd', header), box('mdia', handler, box('minf', samples)));
}

type Shape = { width: number; height: number; seconds: number; frames: number; hasAudio: boolean };

/** For tests: the boxes of an MP4 of this shape, without decodable frames. */
export function videoFile(shape: Partial<Shape> = {}): Buffer {
  const whole = { width: 96, height: 64, seconds: 2.5, frames: 30, hasAudio: false, ...shape };
  const header = box('mvhd', numbers(0, 0, 0, 1000, whole.seconds * 1000));
  const tracks = [track('vide', whole), ...(whole.hasAudio ? [track('soun', whole)] : [])];
  return Buffer.concat([
    box('ftyp', Buffer.from('isom'), numbers(512)),
    box('moov', header, ...tracks),
    box('mdat', Buffer.alloc(500, 7)),
  ]);
}
