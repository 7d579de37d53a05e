import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { createImage } from '@bakehouse/contract/images';
import type { Context } from '../../../platform/context.ts';
import { readOutputs } from '../pictures/read-outputs.ts';

type Images = ResponseOf<typeof createImage>;

/**
 * What a generation has made, as OpenAI's images API answers: links, or the bytes. Who does not say which gets both:
 * of OpenAI's own models some answer with links and others with bytes, and clients read the one that they know.
 */
export async function answerImages(
  ctx: Context,
  { id, created_at, outputs }: Generation,
  format: 'url' | 'b64_json' | null,
): Promise<Images> {
  // Those of one call have one size.
  const [first] = outputs;
  const bytes = format === 'url' ? [] : await readOutputs(ctx, id);
  return {
    created: Math.floor(Date.parse(created_at) / 1000),
    ...(first && {
      size: `${first.width}x${first.height}`,
      output_format: first.media_type.slice('image/'.length),
    }),
    data: outputs.map(({ url }, index) => ({
      ...(format !== 'b64_json' && { url: new URL(url, ctx.config.publicUrl).href }),
      b64_json: bytes[index]?.toString('base64'),
    })),
  };
}
