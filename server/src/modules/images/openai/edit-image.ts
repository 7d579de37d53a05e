import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { editImageFields, type editImage as endpoint } from '@bakehouse/contract/images';
import { KONTEXT_STARTER } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import { findNamedImageDeployment } from '../../deployments/pictures/find-named-image-deployment.ts';
import { findEditor } from '../kontext/find-editor.ts';
import { receivePicture } from '../pictures/receive-picture.ts';
import { storePicture } from '../pictures/store-picture.ts';
import { startAndAwait } from '../start/start-and-await.ts';
import { answerImages } from './answer-images.ts';
import { refuseUnserved } from './refuse-unserved.ts';

const PART = 'image';
/** What the starter model makes. */
const served = { model: KONTEXT_STARTER, size: '128x128' };
/** Few steps are enough for the starter model, and a program waits for the answer. */
const PARAMETERS = { num_inference_steps: 20 };

/**
 * Edits a picture as OpenAI's images API does, with the caller's Kontext deployment of the name in `model`, else with the
 * starter. Throws what `receivePicture`, `storePicture` and `startAndAwait` throw, and AppError 'invalid_request' or 'not_found' with the
 * field that is not served.
 */
export async function editImage(
  ctx: Context,
  { request, reply }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { bytes, fields } = await receivePicture(ctx, request, PART);
  const { prompt, response_format, ...asked } = parseFields(editImageFields, fields);
  const named = asked.model ? await findNamedImageDeployment(ctx, asked.model) : null;
  const deployed = named?.kind === 'flux-kontext' ? named.model_name : null;
  refuseUnserved(asked, deployed === null ? served : { model: deployed, size: null });
  const editor =
    deployed === null
      ? { model: await findEditor(ctx, { model: KONTEXT_STARTER }), parameters: PARAMETERS }
      : { model: deployed, parameters: {} };
  const picture = await storePicture(ctx, bytes, PART);
  const source = { picture, param: PART, generationId: null, rootId: null };
  const generation = await startAndAwait(
    ctx,
    { generator: 'flux-kontext', prompt, ...editor, source },
    reply,
  );
  return answerImages(ctx, generation, response_format ?? 'url');
}
