import { previewFile as previewEndpoint } from '@bakehouse/contract/assets';
import * as data from '@bakehouse/contract/data-files';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { clientSignal } from '../../platform/http/client-signal.ts';
import { describeColumns } from './preview/columns/describe-columns.ts';
import { previewFile } from './preview/preview-file.ts';
import { searchRows } from './preview/search/search-rows.ts';

export const datasetsRoutes: Binding[] = [
  bind(previewEndpoint, (ctx, { params, query: { revision_id: revisionId, ...query } }, { reply }) =>
    previewFile(ctx, { assetId: params.id, revisionId, ...query, signal: clientSignal(reply) }),
  ),
  bind(data.describeColumns, (ctx, { params, query: { path, revision_id: revisionId } }, { reply }) =>
    describeColumns(ctx, { assetId: params.id, path, revisionId, signal: clientSignal(reply) }),
  ),
  bind(data.searchRows, (ctx, { params, query: { revision_id: revisionId, ...query } }, { reply }) =>
    searchRows(ctx, { assetId: params.id, revisionId, ...query, signal: clientSignal(reply) }),
  ),
];
