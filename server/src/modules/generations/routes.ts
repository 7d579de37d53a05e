import * as contract from '@bakehouse/contract/generations';
import { listGenerators as listGeneratorsEndpoint } from '@bakehouse/contract/generators';
import { uploadPicture as uploadPictureEndpoint } from '@bakehouse/contract/media';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { cancelGeneration, deleteGeneration } from './end-generation.ts';
import { getGeneration, listGenerations } from './generations.ts';
import { listGenerators } from './generators/generators.ts';
import { uploadPicture } from './sources/upload-picture.ts';
import { resolveNamedModel } from './start/parameters.ts';
import { quoteGeneration } from './start/quote-generation.ts';
import { startGeneration } from './start/start-generation.ts';

type Parts = {
  usage: IdleCredit;
  /** True while this server is preparing the starter models. */
  isPreparing: () => Promise<boolean>;
};

export const generationsRoutes = ({ usage, isPreparing }: Parts): Binding[] => [
  bindPublic(listGeneratorsEndpoint, (ctx) => listGenerators(ctx, isPreparing)),
  bind(contract.quoteGeneration, (ctx, { body }) => quoteGeneration(ctx, body)),
  bind(contract.startGeneration, (ctx, { body: { cost_max: costMaxMicro, ...asked } }) =>
    startGeneration(ctx, usage, { sent: asked, read: () => resolveNamedModel(ctx, asked) }, { costMaxMicro }),
  ),
  bind(contract.listGenerations, (ctx, { query }) => listGenerations(ctx, query)),
  bind(contract.getGeneration, (ctx, { params }) => getGeneration(ctx, params)),
  bind(contract.cancelGeneration, (ctx, { params }) => cancelGeneration(ctx, params)),
  bind(contract.deleteGeneration, (ctx, { params }) => deleteGeneration(ctx, params)),
  bind(uploadPictureEndpoint, (ctx, _input, { request }) => uploadPicture(ctx, request)),
];
