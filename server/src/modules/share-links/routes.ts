import * as contract from '@bakehouse/contract/share-links';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { getShareLink } from './get-share-link.ts';
import { getShared } from './get-shared.ts';
import { makeShareLink } from './make-share-link.ts';
import { openSharedOutput, openSharedSample } from './open-shared.ts';
import { revokeShareLink } from './revoke-share-link.ts';

const generation = ({ id }: { id: string }) => ({ kind: 'generation', id }) as const;
const run = ({ runId: id }: { runId: string }) => ({ kind: 'run', id }) as const;
const model = ({ id }: { id: string }) => ({ kind: 'model', id }) as const;

export const shareLinksRoutes: Binding[] = [
  bind(contract.getGenerationShare, (ctx, { params }) => getShareLink(ctx, generation(params))),
  bind(contract.shareGeneration, (ctx, { params }) => makeShareLink(ctx, generation(params))),
  bind(contract.unshareGeneration, (ctx, { params }) => revokeShareLink(ctx, generation(params))),
  bind(contract.getRunShare, (ctx, { params }) => getShareLink(ctx, run(params))),
  bind(contract.shareRun, (ctx, { params }) => makeShareLink(ctx, run(params))),
  bind(contract.unshareRun, (ctx, { params }) => revokeShareLink(ctx, run(params))),
  bind(contract.getModelShare, (ctx, { params }) => getShareLink(ctx, model(params))),
  bind(contract.shareModel, (ctx, { params }) => makeShareLink(ctx, model(params))),
  bind(contract.unshareModel, (ctx, { params }) => revokeShareLink(ctx, model(params))),
  bindPublic(contract.getShared, (ctx, { params }) => getShared(ctx, params)),
  bindPublic(contract.openSharedOutput, (ctx, input, http) => openSharedOutput(ctx, input, http)),
  bindPublic(contract.openSharedSample, (ctx, input, http) => openSharedSample(ctx, input, http)),
];
