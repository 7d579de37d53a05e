import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import * as images from '@bakehouse/contract/openai-images';
import * as videos from '@bakehouse/contract/openai-videos';
import type { IdleCredit } from '../../modules/billing/usage/with-idle-credit.ts';
import { deleteVideo, downloadVideo } from '../../modules/videos/videos.ts';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { createImage, editImage } from './images/image-calls.ts';
import { createOpenAiVideo, getOpenAiVideo, listOpenAiVideos } from './videos.ts';

/** OpenAI's images and videos APIs. */
export const openAiMediaRoutes = (usage: IdleCredit): Binding[] => [
  bind(images.createImage, (ctx, { body }, http) => createImage(ctx, usage, body, http)),
  bind(images.editImage, (ctx, _input, http) => editImage(ctx, usage, http)),
  bind(videos.createOpenAiVideo, (ctx, _input, http) => createOpenAiVideo(ctx, usage, http)),
  bind(videos.getOpenAiVideo, (ctx, { params }) => getOpenAiVideo(ctx, fromFlatId(params.video_id))),
  bind(videos.listOpenAiVideos, (ctx, { query }) => listOpenAiVideos(ctx, query)),
  bind(videos.deleteOpenAiVideo, async (ctx, { params: { video_id: id } }) => {
    await deleteVideo(ctx, { id: fromFlatId(id) });
    return { id, object: 'video.deleted' as const, deleted: true as const };
  }),
  bind(videos.getOpenAiVideoContent, (ctx, { params, query }, { request }) =>
    downloadVideo(ctx, { id: fromFlatId(params.video_id), ...query }, request),
  ),
];
