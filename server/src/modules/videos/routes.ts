import * as contract from '@bakehouse/contract/videos';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { createVideo, deleteVideo, downloadVideo, estimateVideo, getVideo, listVideos } from './videos.ts';

export const videosRoutes = (usage: IdleCredit): Binding[] => [
  bind(contract.createVideo, (ctx, { body }, { client }) => createVideo(ctx, usage, body, client.signal)),
  bind(contract.getVideo, (ctx, { params }) => getVideo(ctx, params)),
  bind(contract.listVideos, (ctx, { query }) => listVideos(ctx, query)),
  bind(contract.deleteVideo, (ctx, { params }) => deleteVideo(ctx, params)),
  bind(contract.downloadVideo, (ctx, { params }, { request }) => downloadVideo(ctx, params, request)),
  bind(contract.estimateVideo, (ctx, { body }) => estimateVideo(ctx, body)),
];
