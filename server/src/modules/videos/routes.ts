import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import * as openai from '@bakehouse/contract/openai-videos';
import * as contract from '@bakehouse/contract/videos';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import { withRetryAfter } from '../generations/end-generation.ts';
import { createOpenAiVideo, getOpenAiVideo, listOpenAiVideos } from './openai/openai-videos.ts';
import { createVideo, deleteVideo, downloadVideo, estimateVideo, getVideo, listVideos } from './videos.ts';

export const videosRoutes = (usage: IdleCredit): Binding[] => [
  bind(contract.createVideo, (ctx, { body }, http) =>
    withRetryAfter(http, () => createVideo(ctx, usage, body, http)),
  ),
  bind(contract.getVideo, (ctx, { params }) => getVideo(ctx, params)),
  bind(contract.listVideos, (ctx, { query }) => listVideos(ctx, query)),
  bind(contract.deleteVideo, (ctx, { params }) => deleteVideo(ctx, params)),
  bind(contract.downloadVideo, (ctx, { params }, http) => downloadVideo(ctx, params, http)),
  bind(contract.estimateVideo, (ctx, { body }) => estimateVideo(ctx, body)),
  bind(openai.createOpenAiVideo, (ctx, _input, http) =>
    withRetryAfter(http, () => createOpenAiVideo(ctx, usage, http)),
  ),
  bind(openai.getOpenAiVideo, (ctx, { params }) => getOpenAiVideo(ctx, fromFlatId(params.video_id))),
  bind(openai.listOpenAiVideos, (ctx, { query }) => listOpenAiVideos(ctx, query)),
  bind(openai.deleteOpenAiVideo, async (ctx, { params: { video_id: id } }) => {
    await deleteVideo(ctx, { id: fromFlatId(id) });
    return { id, object: 'video.deleted' as const, deleted: true as const };
  }),
  bind(openai.getOpenAiVideoContent, (ctx, { params, query }, http) =>
    downloadVideo(ctx, { id: fromFlatId(params.video_id), ...query }, http),
  ),
];
