import { Readable } from 'node:stream';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { createImage } from '@bakehouse/contract/openai-images';
import type { Context } from '../../../platform/context.ts';
import { readOutputs } from '../../generations/read-outputs.ts';

type Images = ResponseOf<typeof createImage>;

/**
 * Returns a generation's outputs in the format of OpenAI's images API: links, bytes, or both by default,
 * because OpenAI's models differ and clients read either field. The bytes are streamed: four pictures of 20
 * MB per caller are never in memory whole.
 */
export async function answerImages(
  ctx: Context,
  { id, created_at, outputs }: Generation,
  format: 'url' | 'b64_json' | null,
): Promise<Images> {
  // Pictures of one call have the same size.
  const [first] = outputs;
  const answer: Images = {
    created: Math.floor(Date.parse(created_at) / 1000),
    ...(first && {
      size: `${first.width}x${first.height}`,
      output_format: first.media_type.slice('image/'.length),
    }),
    data: outputs.map(({ url }) => ({
      ...(format !== 'b64_json' && { url: new URL(url, ctx.config.publicUrl).href }),
    })),
  };
  if (format === 'url') return answer;
  // The streamed text is the same JSON.
  const pieces = withBytes(answer, await readOutputs(ctx, id));
  // In byte mode: object mode would read sixteen pieces ahead of a slow client.
  return Readable.from(pieces, { objectMode: false }) as unknown as Images;
}

/** Yields the response as JSON, with the bytes of each picture. */
async function* withBytes({ data, ...answer }: Images, pictures: Readable[]): AsyncGenerator<string> {
  try {
    yield `${JSON.stringify(answer).slice(0, -1)},"data":[`;
    for (const [index, picture] of pictures.entries()) {
      const fields = Object.entries(data[index] ?? {}).map(
        ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`,
      );
      yield `${index === 0 ? '' : ','}{${fields.join('')}"b64_json":"`;
      yield* inBase64(picture);
      yield '"}';
    }
    yield ']}';
  } finally {
    for (const picture of pictures) picture.destroy();
  }
}

/** Three bytes make four characters: the remainder waits for the next piece. */
async function* inBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let over = Buffer.alloc(0);
  for await (const piece of bytes) {
    const whole = Buffer.concat([over, piece]);
    const end = whole.length - (whole.length % 3);
    yield whole.toString('base64', 0, end);
    over = whole.subarray(end);
  }
  yield over.toString('base64');
}
