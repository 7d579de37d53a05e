import { crc32, deflateSync } from 'node:zlib';

const SIDE = 96;

type Colour = readonly [number, number, number];
type File = { name: string; mimeType: string; buffer: Buffer };

const colours = {
  red: [200, 40, 40],
  green: [40, 160, 70],
  blue: [50, 80, 200],
  orange: [230, 140, 30],
} as const satisfies Record<string, Colour>;

/** Pictures of a disc on a dark background, one per colour and size. Each has a caption file. */
export function drawnPictures(): File[] {
  return Object.entries(colours).flatMap(([name, colour]) =>
    [20, 34].flatMap((radius) => {
      const size = radius > 30 ? 'large' : 'small';
      return [
        { name: `${size}-${name}.png`, mimeType: 'image/png', buffer: disc(colour, radius) },
        {
          ...{ name: `${size}-${name}.txt`, mimeType: 'text/plain' },
          buffer: Buffer.from(`a ${size} ${name} disc`),
        },
      ];
    }),
  );
}

/** A picture whose file is truncated. */
export function brokenPicture(name: string): File {
  return { name, mimeType: 'image/png', buffer: disc(colours.red, 20).subarray(0, 80) };
}

function disc(colour: Colour, radius: number): Buffer {
  const board: Colour = [24, 44, 40];
  const rows = Buffer.alloc(SIDE * (1 + 3 * SIDE));
  for (let y = 0; y < SIDE; y += 1) {
    for (let x = 0; x < SIDE; x += 1) {
      const inside = Math.hypot(x - SIDE / 2, y - SIDE / 2) < radius;
      rows.set(inside ? colour : board, y * (1 + 3 * SIDE) + 1 + 3 * x);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  // PNG header values: eight bits per channel, RGB.
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(kind: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
