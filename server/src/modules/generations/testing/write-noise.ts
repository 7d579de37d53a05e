import sharp from 'sharp';

/** Writes a JPEG file of this many pixels that does not compress well. */
export async function writeNoise(
  file: string,
  { width, height, progressive = false }: { width: number; height: number; progressive?: boolean },
): Promise<void> {
  const noise = { type: 'gaussian', mean: 128, sigma: 8 } as const;
  await sharp({ create: { width, height, channels: 3, background: 'grey', noise } })
    .jpeg({ quality: 60, progressive, optimiseScans: progressive })
    .toFile(file);
}
