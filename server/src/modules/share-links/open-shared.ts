import type { InputOf } from '@bakehouse/contract/endpoint';
import type {
  openSharedOutput as outputEndpoint,
  openSharedSample as sampleEndpoint,
} from '@bakehouse/contract/share-links';
import type { Caller, Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { sendBlob } from '../../platform/storage/send-blob.ts';
import { contentDisposition } from '../assets/files/content-disposition.ts';
import { contentTypeOf } from '../assets/files/content-type.ts';
import { toThumbnail } from '../media/thumbnails/thumbnail-columns.ts';
import { readShared, type Shared } from './find-shared.ts';
import { findSharedGeneration } from './shared-generation.ts';
import { findSharedModelRun } from './shared-model.ts';
import { findSharedSamples } from './shared-samples.ts';

type File = { sha256: string; sizeBytes: number; path: string };

/** Answers whoever has a link with the bytes of a picture or video behind it. Throws what `readShared` and `sendBlob` throw. */
export async function openSharedOutput(
  ctx: Context<Caller>,
  { params, query }: InputOf<typeof outputEndpoint>,
  http: Http,
): Promise<void> {
  const file = await readShared(ctx, params.token, async (shared): Promise<File> => {
    const { row, outputs } = await findSharedGeneration(shared);
    const output = outputs.find(({ id }) => id === params.outputId) ?? noSuchPicture();
    const thumbnail = query.thumbnail ? toThumbnail(output) : null;
    const type = thumbnail ? 'webp' : output.media_type.split('/')[1];
    const { sha256, sizeBytes } = thumbnail ?? {
      sha256: output.sha256,
      sizeBytes: Number(output.size_bytes),
    };
    return { sha256, sizeBytes, path: `${row.generator}.${type}` };
  });
  await send(ctx, http, file);
}

/** The same for what a checkpoint has drawn. */
export async function openSharedSample(
  ctx: Context<Caller>,
  { params: { token, step, number } }: InputOf<typeof sampleEndpoint>,
  http: Http,
): Promise<void> {
  const file = await readShared(ctx, token, async (shared): Promise<File> => {
    const samples = await findSharedSamples(shared, (await runOf(shared)) ?? noSuchPicture());
    const checkpoint = samples?.checkpoints.find((one) => one.step === step);
    const { sha256, sizeBytes } =
      checkpoint?.pictures.find((one) => one.number === number) ?? noSuchPicture();
    return { sha256, sizeBytes, path: `step-${step}-${number + 1}.png` };
  });
  await send(ctx, http, file);
}

/** The run behind the link, or that which has made the model behind it. */
async function runOf(shared: Shared): Promise<string | null> {
  if (shared.kind === 'model') return findSharedModelRun(shared);
  return shared.kind === 'run' ? shared.id : null;
}

function noSuchPicture(): never {
  throw new AppError('not_found', { publicMessage: 'There is no such picture behind this link' });
}

/** The store's own links are not used: they would outlive the share link. */
async function send(ctx: Context<Caller>, http: Http, { sha256, sizeBytes, path }: File): Promise<void> {
  await sendBlob(ctx, http, {
    ...{ sha256, path, sizeBytes },
    headers: {
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('inline', path),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      // Messengers show it in a card of their own.
      'cross-origin-resource-policy': 'cross-origin',
      // Each look asks whether the link still holds; a browser that has the bytes is not sent them again.
      'cache-control': 'private, no-cache',
      'x-robots-tag': 'noindex',
    },
  });
}
