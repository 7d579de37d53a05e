import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { createImage } from '@bakehouse/contract/images';
import type { Context } from '../../../platform/context.ts';
import { readOutputs } from '../pictures/read-outputs.ts';

type Images = ResponseOf<typeof createImage>;

/** What a generation has made, as OpenAI's images API answers: links, or the bytes. */
export async function answerImages(
  ctx: Context,
  generation: Generation,
  format: 'url' | 'b64_json',
): Promise<Images> {
  return {
    created: Math.floor(Date.parse(generation.created_at) / 1000),
    data: await readData(ctx, generation, format),
  };
}

async function readData(
  ctx: Context,
  { id, outputs }: Generation,
  format: 'url' | 'b64_json',
): Promise<Images['data']> {
  if (format === 'url') return outputs.map(({ url }) => ({ url: new URL(url, ctx.config.publicUrl).href }));
  return (await readOutputs(ctx, id)).map((bytes) => ({ b64_json: bytes.toString('base64') }));
}
