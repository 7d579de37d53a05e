import * as contract from '@bakehouse/contract/share-links';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import {
  getShared,
  getShareLink,
  openSharedOutput,
  shareGeneration,
  unshareGeneration,
} from './share-links.ts';

export const shareLinksRoutes: Binding[] = [
  bind(contract.getGenerationShare, getShareLink),
  bind(contract.shareGeneration, shareGeneration),
  bind(contract.unshareGeneration, unshareGeneration),
  bindPublic(contract.getShared, (ctx, { params }) => getShared(ctx, params)),
  bindPublic(contract.openSharedOutput, (ctx, input, { request }) => openSharedOutput(ctx, input, request)),
];
