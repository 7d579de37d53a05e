import type { Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import {
  createOpenAiVideoFields,
  type OpenAiVideo,
  openAiVideoBody,
} from '@bakehouse/contract/openai-videos';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { type SentPicture, sentPicture } from '../../generations/sources/sent-picture.ts';
import { storePicture } from '../../generations/sources/store-picture.ts';
import { receiveOptionalPicture } from '../../media/receive-picture.ts';
import { pictureAt } from '../create-video.ts';
import { findVideoModel } from '../find-video-model.ts';
import { startVideo, type VideoBody } from '../start-video.ts';
import { getOpenAiVideo } from './get-openai-video.ts';
import { nearestLength, readVideoSize } from './read-video-size.ts';

const PART = 'input_reference';
/** Default model for OpenAI's clients that send none. */
const MODEL = 'wan';

/**
 * Starts a video through OpenAI's videos API, from a form or JSON, optionally with a first picture. Throws
 * whatever `receiveOptionalPicture`, `startVideo` and `readVideoSize` throw, with the invalid field.
 */
export async function createOpenAiVideo(ctx: Context, usage: IdleCredit, http: Http): Promise<OpenAiVideo> {
  const { request } = http;
  const start = (sent: Fields, picture: SentPicture | null) =>
    startVideo(ctx, usage, { sent, readBody: () => toVideoBody(ctx, sent), picture });
  const atLink = (address: string | undefined) =>
    address === undefined ? null : pictureAt(ctx, address, PART, http);
  if (request.isMultipart()) {
    const { id } = await receiveOptionalPicture(ctx, request, PART, ({ bytes, fields }) => {
      const { 'input_reference[image_url]': link, ...sent } = parseFields(createOpenAiVideoFields, fields);
      const picture = bytes && sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
      return start(sent, picture ?? atLink(link));
    });
    return getOpenAiVideo(ctx, id);
  }
  const { input_reference: reference, ...sent } = parseFields(openAiVideoBody, request.body ?? {});
  const { id } = await start(sent, atLink(reference?.image_url));
  request.leaveBodyRoom();
  return getOpenAiVideo(ctx, id);
}

type Fields = Omit<z.output<typeof openAiVideoBody>, 'input_reference'>;

/** Converts the fields to the native videos API. */
async function toVideoBody(
  ctx: Context,
  { prompt, model = MODEL, seconds, size }: Fields,
): Promise<VideoBody> {
  const generator: Generator = generators[(await findVideoModel(ctx, model)).generator];
  return {
    ...{ prompt, model },
    ...(seconds !== undefined && { duration: nearestLength(seconds, generator) }),
    ...(size !== undefined && readVideoSize(size, generator)),
  };
}
