import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import * as openai from '@bakehouse/contract/openai-videos';
import * as contract from '@bakehouse/contract/videos';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import { createOpenAiVideo, getOpenAiVideo, listOpenAiVideos } from './openai/openai-videos.ts';
import { createVideo, deleteVideo, downloadVideo, estimateVideo, getVideo, listVideos } from './videos.ts';

export const videosRoutes = (usage: IdleCredit): Binding[] => [
  bind(contract.createVideo, (ctx, { body }, { client }) => createVideo(ctx, usage, body, client.signal)),
  bind(contract.getVideo, (ctx, { params }) => getVideo(ctx, params)),
  bind(contract.listVideos, (ctx, { query }) => listVideos(ctx, query)),
  bind(contract.deleteVideo, (ctx, { params }) => deleteVideo(ctx, params)),
  bind(contract.downloadVideo, (ctx, { params }, { request }) => downloadVideo(ctx, params, request)),
  bind(contract.estimateVideo, (ctx, { body }) => estimateVideo(ctx, body)),
  bind(openai.createOpenAiVideo, (ctx, _input, http) => createOpenAiVideo(ctx, usage, http)),
  bind(openai.getOpenAiVideo, (ctx, { params }) => getOpenAiVideo(ctx, fromFlatId(params.video_id))),
  bind(openai.listOpenAiVideos, (ctx, { query }) => listOpenAiVideos(ctx, query)),
  bind(openai.deleteOpenAiVideo, async (ctx, { params: { video_id: id } }) => {
    await deleteVideo(ctx, { id: fromFlatId(id) });
    return { id, object: 'video.deleted' as const, deleted: true as const };
  }),
  bind(openai.getOpenAiVideoContent, (ctx, { params, query }, { request }) =>
    downloadVideo(ctx, { id: fromFlatId(params.video_id), ...query }, request),
  ),
];
