import { PROMPT_LENGTH_MAX } from '@bakehouse/contract/generations';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { readMetadata } from '../../generations/testing/read-metadata.ts';
import { inspectPicture } from '../inspect-picture.ts';
import { embedMetadata } from './embed-metadata.ts';

const SHORT = { prompt: 'A loaf of bread', model: 'fal-ai/flux/dev', guidance_scale: '3.5', seed: '7' };
const prompts = {
  short: SHORT.prompt,
  'of several lines': 'Brötchen,\n«Brot»\tund "Brezeln" \\',
  'as long as it may be, in ASCII': 'bread '.repeat(PROMPT_LENGTH_MAX).slice(0, PROMPT_LENGTH_MAX),
  'as long as it may be, in characters of three bytes': '麺'.repeat(PROMPT_LENGTH_MAX),
  'as long as it may be, in pairs of units': '🍞'.repeat(PROMPT_LENGTH_MAX / 2),
};

const noise = () => sharp({ create: { width: 7, height: 5, channels: 3, background: '#c87828' } });
const clear = () => sharp({ create: { width: 7, height: 5, channels: 4, background: '#c8782840' } });
const files = {
  png: () => noise().png(),
  'png with a profile': () => noise().withIccProfile('p3').png(),
  jpeg: () => noise().jpeg(),
  'jpeg that lies on its side': () => noise().withMetadata({ orientation: 6 }).jpeg(),
  webp: () => noise().webp(),
  'lossless webp': () => noise().webp({ lossless: true }),
  'webp that is half clear': () => clear().webp({ lossless: true }),
  'webp with a profile and EXIF': () =>
    noise()
      .withIccProfile('p3')
      .withExifMerge({ IFD0: { Copyright: 'Ada' } })
      .webp(),
  'webp with XMP': () => noise().withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>').webp(),
};

const embed = (bytes: Buffer, metadata: Record<string, string>) =>
  embedMetadata({ ...inspectPicture(bytes), bytes }, metadata);
const pixels = (bytes: Buffer) => sharp(bytes).raw().toBuffer();

test.each(Object.entries(files))(
  '%s: embeds all metadata without changing the picture',
  async (_name, make) => {
    const before = await make().toBuffer();
    const was = await sharp(before).metadata();
    for (const [length, prompt] of Object.entries(prompts)) {
      const metadata = { ...SHORT, prompt };
      const after = embed(before, metadata);
      expect(await readMetadata(after), length).toEqual(metadata);
      expect(inspectPicture(after)).toEqual(inspectPicture(before));
      expect(await pixels(after)).toEqual(await pixels(before));
      const is = await sharp(after).metadata();
      const { format, width, height, hasAlpha, hasProfile, orientation, xmp } = was;
      expect(is).toMatchObject({ format, width, height, hasAlpha, hasProfile });
      expect([is.orientation, is.xmp]).toEqual([orientation, xmp]);
      if (was.exif) expect(is.exif?.includes('Ada')).toBe(was.exif.includes('Ada'));
    }
  },
);

test.each(Object.entries(files))('%s: writing metadata again replaces it', async (_name, make) => {
  const first = embed(await make().toBuffer(), SHORT);
  const changed = { ...SHORT, prompt: 'A pretzel' };
  expect(await readMetadata(embed(first, changed))).toEqual(changed);
});

test('preserves EXIF in either byte order', async () => {
  const written = await noise()
    .withExif({ IFD0: { Artist: 'Ada' }, IFD2: { LensModel: 'X1' } })
    .jpeg()
    .toBuffer();
  expect((await sharp(written).metadata()).exif?.toString('latin1', 6, 8)).toBe('II');
  const again = await sharp(embed(written, SHORT)).keepExif().jpeg().toBuffer();
  const { exif } = await sharp(again).metadata();
  for (const text of ['Ada', 'X1', SHORT.prompt]) expect(exif?.includes(text), text).toBe(true);
});

test.each([
  ['damaged', Buffer.from('Exif\0\0MM\0*\0\0\xff\xff', 'latin1')],
  ['without room', Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\x08', 'latin1'), Buffer.alloc(65_500)])],
])('refuses a JPEG whose EXIF is %s', async (_what, exif) => {
  const jpeg = await noise().jpeg().toBuffer();
  const length = exif.length + 2;
  const segment = Buffer.concat([Buffer.from([0xff, 0xe1, length >> 8, length & 0xff]), exif]);
  const bytes = Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
  expect(() => embed(bytes, SHORT)).toThrow(/range|room/);
});
