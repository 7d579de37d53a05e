import * as contract from '@bakehouse/contract/videos';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import { withRetryAfter } from '../generations/with-retry-after.ts';
import { createVideo } from './create-video.ts';
import { deleteVideo } from './delete-video.ts';
import { downloadVideo } from './download-video.ts';
import { estimateVideo } from './estimate-video.ts';
import { getVideo } from './get-video.ts';
import { listVideos } from './list-videos.ts';

export const videosRoutes = (usage: IdleCredit): Binding[] => [
  bind(contract.createVideo, (ctx, { body }, http) =>
    withRetryAfter(http, () => createVideo(ctx, usage, body, http)),
  ),
  bind(contract.getVideo, (ctx, { params }) => getVideo(ctx, params)),
  bind(contract.listVideos, (ctx, { query }) => listVideos(ctx, query)),
  bind(contract.deleteVideo, (ctx, { params }) => deleteVideo(ctx, params)),
  bind(contract.downloadVideo, (ctx, { params }, http) => downloadVideo(ctx, params, http)),
  bind(contract.estimateVideo, (ctx, { body }) => estimateVideo(ctx, body)),
];
