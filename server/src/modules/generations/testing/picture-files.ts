import { crc32, deflateSync } from 'node:zlib';

const png = (...chunks: Buffer[]) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** For tests: a PNG that claims this size, with data for at most 200 lines. */
export function pngOf(width: number, height: number): Buffer {
  return pngWith(width, height, deflateSync(Buffer.alloc((width + 1) * Math.min(height, 200))));
}

/** For tests: a PNG that claims this size, with these bytes as its data. */
export function pngWith(width: number, height: number, data: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0], 8);
  return png(chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0)));
}

/** For tests: files of 6 x 4 pixels, and files that cannot be edited. */
export const pictureFiles = {
  png: pngOf(6, 4),
  jpeg: Buffer.concat([
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    // Frame header: precision, height, width, and one component.
    Buffer.from('ffc0000b0800040006010111', 'hex'),
    Buffer.from('00ffda0008010100003f0012ffd9', 'hex'),
  ]),
  webp: Buffer.from(
    'UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoGAAQAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA=',
    'base64',
  ),
  losslessWebp: Buffer.from('UklGRhwAAABXRUJQVlA4TA8AAAAvBcAAAAcQ/Y/+ByKi/wEA', 'base64'),
  extendedWebp: Buffer.from(
    'UklGRnAAAABXRUJQVlA4WAoAAAAIAAAABQAAAwAAVlA4IDAAAADQAQCdASoGAAQAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg' +
      '/9KQAABFWElGGgAAAE1NACoAAAAIAAEBEgADAAAAAQABAAAAAAAA',
    'base64',
  ),
  animatedWebp: Buffer.from(
    'UklGRsQAAABXRUJQVlA4WAoAAAACAAAABQAAAwAAQU5JTQYAAAAAAAAAAABBTk1GSgAAAAAAAAAAAAUAAAMAAAAAAAJWUDggMgAAADABAJ0BKgYA' +
      'BAABQCYloAADcAD+8ut///mwP/bz/wR6Af//0uD//pcH//S4P/SkAAAAQU5NRkYAAAAAAAAAAAAFAAADAAAAAAAAVlA4IC4AAAA0AQCdASoGAAQA' +
      'AAAmJaAAA3AA/vtV4///S4P/+lwf/9Lg/9Lg//rV5Vesq6AA',
    'base64',
  ),
  animatedPng: png(
    chunk('IHDR', Buffer.from('00000006000000040800000000', 'hex')),
    chunk('acTL', Buffer.from('0000000200000000', 'hex')),
    chunk('IEND', Buffer.alloc(0)),
  ),
  gif: Buffer.from('R0lGODdhBgAEAIEAAP8AAAAAAAAAAAAAACwAAAAABgAEAAAICwABCBxIsKDBgQEBADs=', 'base64'),
  svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="6" height="4"/>'),
  text: Buffer.from('A loaf of bread'),
  /** A few hundred bytes that decompress to 7.5 GB. */
  bomb: pngOf(50_000, 50_000),
};
