import sharp from 'sharp';

const COMMENT = 'ASCII\0\0\0';

/** For tests: the metadata of a picture's file as another program reads it. */
export async function readMetadata(bytes: Buffer): Promise<Record<string, string>> {
  const { format, comments = [] } = await sharp(bytes).metadata();
  if (format === 'png') return Object.fromEntries(comments.map(({ keyword, text }) => [keyword, text]));
  // Re-encoded from the metadata that the other program parsed.
  const { exif } = await sharp(bytes)
    .keepExif()
    .jpeg()
    .toBuffer()
    .then((again) => sharp(again).metadata());
  const block = exif?.toString('latin1') ?? '';
  const start = block.indexOf(COMMENT) + COMMENT.length;
  return JSON.parse(block.slice(start, block.indexOf('}', start) + 1)) as Record<string, string>;
}
