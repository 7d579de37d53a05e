import { previewFile as previewEndpoint } from '@bakehouse/contract/assets';
import * as captions from '@bakehouse/contract/captions';
import { addChatRow as addChatRowEndpoint } from '@bakehouse/contract/chat-rows';
import * as data from '@bakehouse/contract/data-files';
import * as sql from '@bakehouse/contract/sql';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { getCaptions, saveCaptions } from './captions/captions.ts';
import { addChatRow } from './chats/add-chat-row.ts';
import { editRows } from './edit-rows.ts';
import { describeColumns } from './preview/columns/describe-columns.ts';
import { listFilePictures, showPictures } from './preview/pictures/show-pictures.ts';
import { searchRows } from './preview/search/search-rows.ts';
import { previewFile } from './preview-file.ts';
import { exportSql, listTables, runSql } from './sql/run-sql.ts';

export const datasetsRoutes: Binding[] = [
  bind(previewEndpoint, (ctx, { params, query: { revision_id: revisionId, ...query } }, { client }) =>
    previewFile(ctx, { assetId: params.id, revisionId, ...query, signal: client.signal }),
  ),
  bind(data.describeColumns, (ctx, { params, query: { path, revision_id: revisionId } }, { client }) =>
    describeColumns(ctx, { assetId: params.id, path, revisionId, signal: client.signal }),
  ),
  bind(data.searchRows, (ctx, { params, query: { revision_id: revisionId, ...query } }, { client }) =>
    searchRows(ctx, { assetId: params.id, revisionId, ...query, signal: client.signal }),
  ),
  bind(data.showPictures, (ctx, { params, query: { revision_id: revisionId, ...query } }, { client }) =>
    showPictures(ctx, { assetId: params.id, revisionId, ...query, signal: client.signal }),
  ),
  bind(data.listFilePictures, (ctx, { params, query: { revision_id: revisionId, ...query } }, { client }) =>
    listFilePictures(ctx, { assetId: params.id, revisionId, ...query, signal: client.signal }),
  ),
  bind(data.editRows, editRows),
  bind(captions.getCaptions, getCaptions),
  bind(captions.saveCaptions, saveCaptions),
  bind(addChatRowEndpoint, addChatRow),
  bind(sql.listSqlTables, (ctx, { params, query: { revision_id: revisionId } }) =>
    listTables(ctx, { assetId: params.id, revisionId }),
  ),
  bind(sql.runSql, (ctx, { params, body: { revision_id: revisionId, ...body } }, { client }) =>
    runSql(ctx, { assetId: params.id, revisionId, ...body, signal: client.signal }),
  ),
  bind(sql.exportSql, (ctx, { params, body: { revision_id: revisionId, ...body } }, { client }) =>
    exportSql(ctx, { assetId: params.id, revisionId, ...body, signal: client.signal }),
  ),
];
