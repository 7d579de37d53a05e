import type { VideoGenerator } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import {
  createOpenAiVideoFields,
  type OpenAiVideo,
  openAiVideoBody,
} from '@bakehouse/contract/openai-videos';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
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
import { readVideoSize } from './read-video-size.ts';

const PART = 'input_reference';
/** OpenAI's clients name none where their own default shall do. */
const MODEL = 'wan';

/**
 * Starts a video as OpenAI's videos API does: by a form, with a picture that it begins with or without one, or by JSON.
 * Throws what `receiveOptionalPicture`, `startVideo` and `readVideoSize` throw, with the field that does not fit.
 */
export async function createOpenAiVideo(ctx: Context, usage: IdleCredit, http: Http): Promise<OpenAiVideo> {
  const { request } = http;
  const start = async (fields: Fields, picture: SentPicture | null) => {
    const { generator } = await findVideoModel(ctx, fields.model ?? MODEL);
    return startVideo(ctx, usage, toVideoBody(generator, fields), picture).catch((error: unknown) => {
      throw withOpenAiField(error);
    });
  };
  if (request.isMultipart()) {
    const { id } = await receiveOptionalPicture(ctx, request, PART, ({ bytes, fields }) => {
      const picture = bytes && sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
      return start(parseFields(createOpenAiVideoFields, fields), picture);
    });
    return getOpenAiVideo(ctx, id);
  }
  const { input_reference: reference, ...fields } = parseFields(openAiVideoBody, request.body ?? {});
  const { id } = await start(fields, reference ? pictureAt(ctx, reference.image_url, PART, http) : null);
  request.leaveBodyRoom();
  return getOpenAiVideo(ctx, id);
}

type Fields = z.output<typeof createOpenAiVideoFields>;

/** The same in the words of the other videos API. */
function toVideoBody(name: VideoGenerator, { prompt, model = MODEL, seconds, size }: Fields): VideoBody {
  const generator: Generator = generators[name];
  return {
    ...{ prompt, model, duration: seconds },
    ...(size !== undefined && readVideoSize(size, generator)),
  };
}

/** Errors name the fields of this call. */
function withOpenAiField(error: unknown): unknown {
  if (!(error instanceof AppError) || error.param !== 'duration') return error;
  return refused('seconds', error.publicMessage.replace(/^Duration/, 'seconds'), error);
}
